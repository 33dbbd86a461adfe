import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Where everything is kept: what the flag says, or the first of the variables that is set, or the usual folder. */
export function dataDirOf(
  flag: string | boolean | undefined,
  env: Readonly<Record<string, string | undefined>>,
  variables: readonly string[] = ['CARREL_HOME'],
): string {
  const named = variables.map((variable) => env[variable]).find((value) => value !== undefined && value !== '');
  return resolve(String(flag ?? named ?? join(homedir(), '.carrel')));
}
