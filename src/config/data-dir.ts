import { join, resolve } from 'node:path';
import { homeFolder } from '../base/home-folder.ts';

export const dataDirVariables: readonly string[] = ['CARREL_HOME'];

/** Returns the data folder: from the flag, else from the first variable that is set, else the default. */
export function dataDirOf(
  flag: string | boolean | undefined,
  env: Readonly<Record<string, string | undefined>>,
  variables = dataDirVariables,
): string {
  const fromEnv = variables
    .map((variable) => env[variable])
    .find((value) => value !== undefined && value.trim() !== '');
  return resolve(String(flag ?? fromEnv ?? join(homeFolder(), '.carrel')));
}
