import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { findHome } from '../../base/home-folder.ts';
import { noteConsulted } from '../../config/consulted-files.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The MCP-Fess specification spells the folder with and without a dot. The third is the later name of the original bridge. */
const folders = ['.mcp-feiss', 'mcp-feiss', '.mcp-fess'] as const;

/** Returns the first configuration file that exists, in the order of `folders`. Undefined if there is none. */
export function findFessConfig(env: Environment): string | undefined {
  for (const folder of folders) {
    const file = configFile(env, folder);
    if (existsSync(file)) return file;
    noteConsulted(file, undefined);
  }
  return undefined;
}

/** Returns where the file is expected, for the error if there is none. */
export function usualFessConfig(env: Environment): string {
  return configFile(env, folders[0]);
}

function configFile(env: Environment, folder: string): string {
  return join(env['HOME'] || env['USERPROFILE'] || (findHome() ?? sep), folder, 'config.json');
}
