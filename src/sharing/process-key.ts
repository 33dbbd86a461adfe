import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { version } from '../base/package-info.ts';
import { fileBeside } from '../base/program-files.ts';

/** Facts about the settings, written at build time, so that a relay needn't load the settings. */
export interface SharingFacts {
  /** Names of all environment variables that the settings read. */
  variables: readonly string[];
  /** Names of the variables that affect a command's answer. Excludes those for connections and logging. */
  commandVariables: readonly string[];
  roles: Readonly<Record<string, SharedRole>>;
}

/** A role whose stdio clients share a process. */
export interface SharedRole {
  /** The role's default transport, and the environment variables that may change it. */
  transport: string;
  transportVariables: readonly string[];
}

export function readSharingFacts(): SharingFacts {
  return JSON.parse(readFileSync(new URL('./sharing.json', import.meta.url), 'utf8'));
}

/** Matches environment variables that libraries or the system read. */
const otherVariables =
  /^(CARREL_|NODE_|PG|OTEL_|SSL_|UV_|OMP_|ORT_|LC_|MALLOC_|LD_)|^(HOME|LANG|LANGUAGE|TZ|TMPDIR|USERPROFILE)$|_PROXY$/i;

export interface KeyParts {
  facts: SharingFacts;
  command: string;
  /** All arguments after the command. */
  args: readonly string[];
  /** The absolute paths of the data folder and the configuration file. */
  paths: readonly (string | undefined)[];
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns a key; clients with the same key share a process. It covers everything that could change an answer: the program, its
 * settings and its environment. It is a hash, because some of these are secrets.
 */
export function processKey({ facts, command, args, paths, env }: KeyParts): string {
  const settingNames = new Set(facts.variables);
  const variables = Object.entries(env)
    .filter(([name]) => settingNames.has(name) || otherVariables.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const program = realpathSync(fileURLToPath(fileBeside(import.meta.url, 'main')));
  const { mtimeMs, size } = statSync(program);
  const parts = [
    [version, program, mtimeMs, size],
    [process.version, process.execPath, process.execArgv],
    [command, args, paths],
    variables,
    [process.getuid?.(), process.geteuid?.(), process.getgid?.(), process.getegid?.()],
    sandboxIdentity(),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/**
 * Returns a key of the data and settings that a command's answer depends on. A process of the same user with the same key may
 * answer the command, even if it has another role.
 */
export function commandKey(
  { commandVariables }: SharingFacts,
  paths: readonly (string | undefined)[],
  env: KeyParts['env'],
): string {
  const settingNames = new Set(commandVariables);
  // PostgreSQL's client library reads PG… variables for everything that the connection string omits.
  const names = Object.keys(env).filter((name) => settingNames.has(name) || name.startsWith('PG'));
  const variables = names.sort().map((name) => [name, env[name]]);
  return createHash('sha256')
    .update(JSON.stringify([version, paths, variables]))
    .digest('hex');
}

/** Identifies the container or sandbox, so that clients with different access never share a process. */
function sandboxIdentity(): unknown[] {
  if (process.platform !== 'linux') return [];
  const namespaces = ['mnt', 'net', 'pid', 'user', 'uts', 'cgroup', 'ipc', 'time'].map((name) => {
    try {
      return readlinkSync(`/proc/self/ns/${name}`);
    } catch {
      return '';
    }
  });
  return [...namespaces, ...privileges()];
}

function privileges(): string[] {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    return status.split('\n').filter((line) => /^(Groups|Cap\w+|NoNewPrivs|Seccomp):/.test(line));
  } catch {
    return [];
  }
}
