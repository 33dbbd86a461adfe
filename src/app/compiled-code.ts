import { existsSync, readdirSync, rmSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { makeFolder } from '../base/make-folder.ts';
import { version } from '../base/package-info.ts';

/** After the first answers, which must not wait for the disk. */
const storeAfterMs = 1_000;

const own = `code-${version}`;

/**
 * Uses the code that an earlier start compiled for everything loaded from now on, and records what is missing. Only
 * if an earlier start has made the folder: this one may yet be refused, and must then have written nothing. So it is the
 * second start that records the whole program, and the third that benefits.
 */
export function useCompiledCode(dataDir: string): void {
  if (existsSync(join(dataDir, 'cache'))) attempt(() => openFolder(dataDir));
}

/**
 * Keeps compiled code from one start to the next, in the data folder, because whoever can write there can run code.
 */
export function keepCompiledCode(dataDir: string): void {
  const folder = join(dataDir, 'cache');
  const isThere = attempt(() => openFolder(dataDir));
  if (!isThere) return;
  setTimeout(() => {
    flushCompileCache();
    attempt(() => {
      const others = readdirSync(folder).filter((name) => name.startsWith('code-') && name !== own);
      for (const name of others) rmSync(join(folder, name), { recursive: true, force: true });
    });
  }, storeAfterMs).unref();
}

function openFolder(dataDir: string): void {
  const folder = join(dataDir, 'cache', own);
  makeFolder(folder);
  enableCompileCache(folder);
}

/** A cache that can't be written costs time and nothing else. */
function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
