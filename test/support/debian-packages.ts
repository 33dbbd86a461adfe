import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** True if this machine can fetch and unpack Debian packages. Needs no privileges. */
export function hasDebianPackages(): boolean {
  return process.platform === 'linux' && existsSync(keyring) && existsSync('/usr/bin/apt-get');
}

export interface PackageSelection {
  /** Lines of a sources.list: address, suite, components. */
  sources: readonly string[];
  packages: readonly string[];
  /** True to skip packages that are installed on the machine. */
  usesInstalled?: boolean;
}

/**
 * Fetches packages with their dependencies and unpacks the selected ones into a folder. apt keeps its lists, cache and state
 * in `workFolder`, so the system stays unchanged.
 */
export function unpackPackages(
  { sources, packages, usesInstalled = false }: PackageSelection,
  workFolder: string,
  root: string,
  isSelected: (name: string) => boolean = () => true,
): void {
  const folders = ['state/lists/partial', 'cache/archives/partial', 'packages'].map((name) => join(workFolder, name));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const writeFile = (name: string, text: string) => {
    writeFileSync(join(workFolder, name), text);
    return join(workFolder, name);
  };
  const settings = {
    'Dir::State': join(workFolder, 'state'),
    'Dir::State::status': usesInstalled ? '/var/lib/dpkg/status' : writeFile('status', ''),
    'Dir::Cache': join(workFolder, 'cache'),
    'Dir::Etc::sourcelist': writeFile(
      'sources.list',
      sources.map((line) => `deb [signed-by=${keyring}] ${line}\n`).join(''),
    ),
    'Dir::Etc::sourceparts': '/dev/null',
    'APT::Sandbox::User': 'root',
    'APT::Update::Error-Mode': 'any',
    'Acquire::http::Timeout': '20',
    'Acquire::Languages': 'none',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";`);
  // Container images configure apt to clear its cache after each update, which only root may do.
  const config = writeFile('apt.conf', ['#clear APT::Update;', ...lines, ''].join('\n'));
  const apt = (...args: string[]) => run('apt-get', ['-c', config, ...args], join(workFolder, 'packages'));

  apt('update');
  const plan = apt('install', '-y', '--no-install-recommends', '--print-uris', ...packages);
  const names = plan
    .split('\n')
    .filter((line) => line.startsWith("'"))
    .map((line) => line.split(' ')[1]?.split('_')[0] ?? '');
  apt('download', ...names.filter(isSelected));
  for (const name of run('ls', [], join(workFolder, 'packages')).trim().split('\n')) {
    run('dpkg-deb', ['-x', join(workFolder, 'packages', name), root], workFolder);
  }
}

function run(command: string, args: readonly string[], cwd: string): string {
  const env = { ...process.env, LC_ALL: 'C' };
  return execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd, env, encoding: 'utf8' });
}

/** Returns the reason for a failure in one line: apt's own message, if there is one. */
export function aptProblem(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const line = stderr.split('\n').find((text) => text.startsWith('E: '));
  return line ?? (error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
}
