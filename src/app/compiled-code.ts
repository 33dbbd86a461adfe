import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
 * what is compiled before a module runs, which is hardly a function; this one holds those that were called.
 *
 * What the build's own start compiled is beside the script, for the version of Node that built it. Others keep theirs in
 * the data folder, because whoever can write there can run code. It is used and made only if an earlier start has made the folder:
 * this one may yet be refused, and must then have written nothing.
 */
export function loadProgram<Exports>(url: URL, { dataDir, purpose }: Partial<KeptCode>): LoadedProgram<Exports> {
  const file = fileURLToPath(url);
  const source = readFileSync(file, 'utf8');
  const identity = identityOf(source);
  const places = [shippedCode(file), ...(purpose && dataDir !== undefined ? [keptCode(dataDir, purpose)] : [])];
  const { script, isTaken } = compile(file, source, places, identity);
  let isKept = isTaken || purpose === undefined;
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

/** With the first of the kept codes that fits the program and that V8 takes: it refuses that of other versions and flags. */
function compile(file: string, source: string, places: readonly string[], identity: string) {
  const wrapped = `(function(exports,require,module,programUrl){${source}\n})`;
  let script: Script | undefined;
  for (const place of places) {
    const cachedData = readKept(place, identity);
    if (cachedData === undefined) continue;
    script = new Script(wrapped, { filename: file, cachedData });
    if (script.cachedDataRejected === false) return { script, isTaken: true };
  }
  return { script: script ?? new Script(wrapped, { filename: file }), isTaken: false };
}

/** Where the build puts the code of its own start. */
export function shippedCode(program: string): string {
  return `${program}.code`;
}

export function keptCode(dataDir: string, purpose: string): string {
  return join(dataDir, 'cache', own, purpose);
}

/** V8 itself compares no more of the source than its length. Its first line tells what was built (see scripts/build.ts). */
function identityOf(source: string): string {
  return JSON.stringify([source.slice(0, source.indexOf('\n')), source.length, process.version, process.arch]);
}

function readKept(file: string, identity: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const code = bytes.subarray(digestBytes);
    return digestOf(identity, code).equals(bytes.subarray(0, digestBytes)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function store(script: Script, dataDir: string, purpose: string, identity: string): void {
  const cache = join(dataDir, 'cache');
  const file = keptCode(dataDir, purpose);
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
