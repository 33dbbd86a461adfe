import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { makeFolder } from '../base/make-folder.ts';
import { version } from '../base/package-info.ts';
import { withUsualHeaps } from './heaps.ts';

/** After the first answers, which must not wait for the disk. */
const storeAfterMs = 1_000;

const own = `code-${version}`;

/** Of SHA-256. It stands before the code, because V8 believes whatever it is given. */
const digestBytes = 32;

export interface LoadedProgram<Exports> {
  readonly exports: Exports;
  /** Keeps what is compiled for later starts, in a data folder that may be made now. */
  keepCode(dataDir: string): void;
}

/** Where the code of earlier starts may be, and what for: different commands call different functions. */
export interface KeptCode {
  readonly dataDir: string;
  readonly purpose: string;
}

/**
 * Runs a bundled script with the code that an earlier start compiled, in little more than half the time. Node's own cache holds
 * what is compiled before a module runs, which is hardly a function; this one holds those that were called. It is in
 * the data folder, because whoever can write there can run code. It is used and made only if an earlier start has made the folder:
 * this one may yet be refused, and must then have written nothing.
 */
export function loadProgram<Exports>(url: URL, { dataDir, purpose }: Partial<KeptCode>): LoadedProgram<Exports> {
  const file = fileURLToPath(url);
  const identity = identityOf(file);
  const kept = purpose && dataDir !== undefined ? readKept(dataDir, purpose, identity) : undefined;
  // The bundler writes nothing but ASCII.
  const script = new Script(`(function(exports,require,module,programUrl){${readFileSync(file, 'latin1')}\n})`, {
    filename: file,
    cachedData: kept,
  });
  let isKept = purpose === undefined || (kept !== undefined && script.cachedDataRejected === false);
  const keep = (to: string): void => {
    if (isKept || purpose === undefined) return;
    isKept = true;
    attempt(() => store(script, to, purpose, identity));
  };
  const keepAtExit = (to: string): void => void process.once('exit', () => keep(to));
  if (dataDir !== undefined && existsSync(join(dataDir, 'cache'))) keepAtExit(dataDir);
  const module = { exports: {} as Exports };
  script.runInThisContext()(module.exports, createRequire(url), module, url.href);
  return {
    exports: module.exports,
    keepCode(to) {
      if (isKept || !attempt(() => makeFolder(join(to, 'cache')))) return;
      setTimeout(keep, storeAfterMs, to).unref();
      keepAtExit(to);
    },
  };
}

/** V8 itself compares no more of the source than its length. */
function identityOf(file: string): string {
  const { size, mtimeMs, ctimeMs } = statSync(file);
  return JSON.stringify([file, size, mtimeMs, ctimeMs, process.version, process.arch]);
}

function readKept(dataDir: string, purpose: string, identity: string): Buffer | undefined {
  try {
    const bytes = readFileSync(join(dataDir, 'cache', own, purpose));
    const code = bytes.subarray(digestBytes);
    return digestOf(identity, code).equals(bytes.subarray(0, digestBytes)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function store(script: Script, dataDir: string, purpose: string, identity: string): void {
  const cache = join(dataDir, 'cache');
  const file = join(cache, own, purpose);
  makeFolder(join(cache, own));
  const unfinished = `${file}.${process.pid}`;
  // Before anything is made that can't be kept.
  writeFileSync(unfinished, '', { mode: 0o600 });
  const code = withUsualHeaps(() => script.createCachedData());
  writeFileSync(unfinished, Buffer.concat([digestOf(identity, code), code]));
  renameSync(unfinished, file);
  for (const name of readdirSync(cache)) {
    if (name.startsWith('code-') && name !== own) rmSync(join(cache, name), { recursive: true, force: true });
  }
}

function digestOf(identity: string, code: Buffer): Buffer {
  return createHash('sha256').update(identity).update(code).digest();
}

/** Code that can't be kept costs time and nothing else. */
function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
