import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt, packageFile } from '../base/program-files.ts';

/**
 * Starts a program that reads untrusted input. It can read its own program and nothing else, writes no file, starts no process,
 * loads no native code and has no environment, so none of our secrets. It has no network if the system or Node can take it
 * away.
 */
export function startReader(file: URL, args: readonly string[], nodeFlags: readonly string[]): ChildProcess {
  const command = [
    ...(canUnshare() ? unshare : []),
    process.execPath,
    ...nodeFlags,
    '--permission',
    // For the thread that watches memory and time.
    '--allow-worker',
    ...programFolders().map((folder) => `--allow-fs-read=${folder}`),
    fileURLToPath(file),
    ...args,
  ];
  const [program = '', ...rest] = command;
  return spawn(program, rest, {
    cwd: packageFolder,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // From source, it shares Node's compile cache.
    env: isBuilt ? {} : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
  });
}

/** How readers are kept off the network; undefined if they are not. */
export function networkBarrier(): 'namespace' | 'node' | undefined {
  if (canUnshare()) return 'namespace';
  return Number(process.versions.node.split('.')[0]) >= nodeWithNetPermission ? 'node' : undefined;
}

/** Since this version, `--permission` covers the network. */
const nodeWithNetPermission = 25;

/** A namespace without network, which ordinary users may create on most Linux systems. */
const unshare = ['unshare', '--user', '--map-current-user', '--net', '--'];
const probeMs = 2_000;
let isUnshareable: boolean | undefined;

function canUnshare(): boolean {
  if (process.platform !== 'linux') return false;
  const [program = '', ...args] = [...unshare, 'true'];
  isUnshareable ??= spawnSync(program, args, { stdio: 'ignore', timeout: probeMs, env: {} }).status === 0;
  return isUnshareable;
}

const packageFolder = fileURLToPath(packageFile(''));

/** The package, and what npm installed next to it. */
function programFolders(): string[] {
  const beside = dirname(packageFolder);
  return basename(beside) === 'node_modules' ? [packageFolder, `${beside}/`] : [packageFolder];
}
