import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt, packageFile } from '../base/program-files.ts';

/**
 * Starts a program that reads untrusted input. It can read only its own program files, and cannot write files, start processes
 * or load native code. It gets no environment variables, hence no secrets. It has no network if the system or Node can block it.
 */
export function startReader(file: URL, args: readonly string[], nodeFlags: readonly string[]): ChildProcess {
  const command = [
    ...(canUnshare() ? unshare : []),
    process.execPath,
    ...nodeFlags,
    '--permission',
    // Needed for the thread that watches memory and CPU time.
    '--allow-worker',
    ...programFolders().map((folder) => `--allow-fs-read=${folder}`),
    ...(compileCache === undefined ? [] : [`--allow-fs-write=${compileCache}`]),
    fileURLToPath(file),
    ...args,
  ];
  const [program = '', ...commandArgs] = command;
  return spawn(program, commandArgs, {
    cwd: packageFolder,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache },
  });
}

/** Returns what blocks the network for readers. Undefined if nothing does. */
export function networkBarrier(): 'namespace' | 'node' | undefined {
  if (canUnshare()) return 'namespace';
  return Number(process.versions.node.split('.')[0]) >= nodeWithNetPermission ? 'node' : undefined;
}

/** First version of Node whose `--permission` covers the network. */
const nodeWithNetPermission = 25;

/** Command that runs a program without network, in a namespace. On most Linux systems, any user may create one. */
const unshare = ['unshare', '--user', '--map-current-user', '--net', '--'];
const probeTimeoutMs = 2_000;
let isUnshareable: boolean | undefined;

function canUnshare(): boolean {
  if (process.platform !== 'linux') return false;
  const [program = '', ...args] = [...unshare, 'true'];
  isUnshareable ??= spawnSync(program, args, { stdio: 'ignore', timeout: probeTimeoutMs, env: {} }).status === 0;
  return isUnshareable;
}

/** Node's compile cache, which programs share when run from source: without it, each reader takes twice as long to start. */
const compileCache = isBuilt ? undefined : process.env['NODE_COMPILE_CACHE'];

const packageFolder = fileURLToPath(packageFile(''));

/** Returns the package's folder, and the `node_modules` folder around it if there is one. */
function programFolders(): string[] {
  const parent = dirname(packageFolder);
  return basename(parent) === 'node_modules' ? [packageFolder, `${parent}/`] : [packageFolder];
}
