import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { findHome } from '../../base/home-folder.ts';
import { noteConsulted } from '../../config/consulted-files.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The seeds spell the folder with and without a dot; the third is the original's later name. */
const folders = ['.mcp-feiss', 'mcp-feiss', '.mcp-fess'] as const;

/** The first existing file, in folder order; undefined if none. */
export function findFessConfig(env: Environment): string | undefined {
  for (const folder of folders) {
    const file = configFile(env, folder);
    if (existsSync(file)) return file;
    noteConsulted(file, undefined);
  }
  return undefined;
}

/** The expected location. */
export function usualFessConfig(env: Environment): string {
  return configFile(env, folders[0]);
}

function configFile(env: Environment, folder: string): string {
  return join(env['HOME'] || env['USERPROFILE'] || (findHome() ?? sep), folder, 'config.json');
}
