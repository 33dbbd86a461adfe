import { readdirSync, rmSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { makeFolder } from '../base/make-folder.ts';
import { version } from '../base/package-info.ts';

/** After the first answers, which must not wait for the disk. */
const storeAfterMs = 1_000;

/**
 * Keeps compiled code from one start to the next, which makes every start but the first shorter by a tenth. In the data
 * folder, because whoever can write there can have code run.
 */
export function keepCompiledCode(dataDir: string): void {
  const folder = join(dataDir, 'cache');
  const own = `code-${version}`;
  const isThere = attempt(() => makeFolder(join(folder, own)));
  if (!isThere) return;
  enableCompileCache(join(folder, own));
  setTimeout(() => {
    flushCompileCache();
    attempt(() => {
      const others = readdirSync(folder).filter((name) => name.startsWith('code-') && name !== own);
      for (const name of others) rmSync(join(folder, name), { recursive: true, force: true });
    });
  }, storeAfterMs).unref();
}

/** A cache that can't be kept costs time and nothing else. */
function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
