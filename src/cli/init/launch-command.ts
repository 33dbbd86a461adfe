import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadRoleConfig } from '../../app/program.ts';
import { serveRole } from '../../app/roles.ts';
import { dataDirOf } from '../../config/data-dir.ts';
import { httpSlice } from '../../config/slices.ts';
import type { CommandLine } from '../command-line.ts';
import { usageError } from '../usage-error.ts';
import type { Launch, Remote } from './clients.ts';

// bin/ is three levels up from src/cli/init/, one from dist/.
const program = new URL(
  import.meta.url.endsWith('.ts') ? '../../../bin/carrel.js' : '../bin/carrel.js',
  import.meta.url,
);

/** The tools and folders that the client's agent gets. */
export interface LaunchOptions {
  readonly tools: string;
  /** Comma-separated folders whose files agents may add by path. */
  readonly allow: string;
}

/**
 * Returns the command that starts this server. Node and the program have absolute paths, because the PATH of desktop clients
 * differs from that of terminals.
 */
export function launchOf({ flags }: CommandLine, { tools, allow }: LaunchOptions): Launch {
  const file = realpathSync(fileURLToPath(program));
  if (/[\\/]_npx[\\/]/.test(file)) {
    throw usageError(
      `${file} is npx's temporary copy. Install the package first (npm install --global carrel), then run carrel init.`,
    );
  }
  const args = [file, 'serve'];
  const dataDir = dataDirOf(flags['data-dir'], process.env);
  // Clients don't pass on environment variables of a terminal, so the folder becomes a flag.
  if (dataDir !== dataDirOf(undefined, {})) args.push('--data-dir', dataDir);
  if (typeof flags['config'] === 'string') args.push('--config', resolve(flags['config']));
  if (flags['read-only'] === true) args.push('--read-only');
  if (tools !== 'all') args.push('--tools', tools);
  if (allow !== '')
    args.push(
      '--allow',
      allow
        .split(',')
        .map((folder) => resolve(folder.trim()))
        .join(','),
    );
  return { command: stableNodePath(process.execPath, isSameFile), args };
}

/** Returns a path to Node that survives upgrades. Homebrew removes the folder of the old version, but not the one in `opt`. */
export function stableNodePath(execPath: string, isSame: (a: string, b: string) => boolean): string {
  const match = /^(.*)\/Cellar\/([^/]+)\/[^/]+\/bin\/node$/.exec(execPath);
  if (match === null) return execPath;
  const stable = `${match[1]}/opt/${match[2]}/bin/node`;
  return isSame(stable, execPath) ? stable : execPath;
}

function isSameFile(a: string, b: string): boolean {
  return existsSync(a) && realpathSync(a) === realpathSync(b);
}

/** Returns address and token of the server that `carrel serve --transport http` starts with these settings. */
export function remoteOf({ flags }: CommandLine): Remote {
  const config = loadRoleConfig(serveRole, { ...flags, transport: 'http' });
  const { host, port, path, authToken } = config.of(httpSlice);
  const reachableHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const urlHost = reachableHost.includes(':') ? `[${reachableHost}]` : reachableHost;
  return { url: `http://${urlHost}:${port}${path}`, token: authToken?.reveal() };
}

/** Returns the environment variables that settings came from. Clients probably won't pass them on to the server. */
export function terminalVariables({ flags }: CommandLine): string[] {
  const { settings } = loadRoleConfig(serveRole, flags);
  return [...new Set(settings.map(({ source }) => source).filter((source) => /^[A-Z][A-Z0-9_]+$/.test(source)))];
}
