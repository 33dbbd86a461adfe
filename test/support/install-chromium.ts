import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder, locked, recentObstacle, rememberObstacle } from './cached-install.ts';
import { aptProblem, hasDebianPackages, unpackPackages } from './debian-packages.ts';

export interface ChromiumProgram {
  path: string;
  env: Record<string, string>;
}

const systemPaths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Chromium without windows, which takes half of the CPU time. */
const packageName = 'chromium-headless-shell';
const programPath = `usr/lib/chromium/${packageName}`;

/**
 * Finds the machine's Chromium, or unpacks one from Debian's packages (a download of about 100 MB the first time, no privileges
 * needed). If neither is possible, returns the reason as a string.
 */
export function findChromium(): ChromiumProgram | string {
  const system = systemPaths.find((path) => existsSync(path));
  if (system !== undefined) return { path: system, env: {} };
  const libraries = { x64: 'usr/lib/x86_64-linux-gnu', arm64: 'usr/lib/aarch64-linux-gnu' }[process.arch as 'x64'];
  if (libraries === undefined || !hasDebianPackages())
    return 'Chromium is not installed, and tests can install it only on Debian';
  const root = cacheFolder(packageName);
  const program = () => ({
    path: join(root, programPath),
    env: { LD_LIBRARY_PATH: libraryFolders(join(root, libraries)) },
  });
  try {
    mkdirSync(dirname(root), { recursive: true });
    return (
      locked(`${root}.lock`, () =>
        existsSync(join(root, programPath)) ? undefined : (recentObstacle(root) ?? install(root)),
      ) ?? program()
    );
  } catch (error) {
    return aptProblem(error);
  }
}

/** Returns the folder and its subfolders, because some libraries are in those. */
function libraryFolders(folder: string): string {
  const subfolders = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).filter((each) => each.isDirectory())
    : [];
  return [folder, ...subfolders.map(({ name }) => join(folder, name))].join(':');
}

function install(root: string): string | undefined {
  const partialRoot = `${root}.unfinished`;
  try {
    rmSync(partialRoot, { recursive: true, force: true });
    const suite = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable';
    const sources = [
      `http://deb.debian.org/debian ${suite} main`,
      `http://deb.debian.org/debian-security ${suite}-security main`,
    ];
    unpackPackages({ sources, packages: [packageName], usesInstalled: true }, join(partialRoot, 'apt'), partialRoot);
    rmSync(join(partialRoot, 'apt'), { recursive: true });
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    renameSync(partialRoot, root);
    return undefined;
  } catch (error) {
    return rememberObstacle(root, `Chromium cannot be installed: ${aptProblem(error)}`);
  }
}
