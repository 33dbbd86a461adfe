import type { Role } from '../app/role.ts';
import { roles } from '../app/roles.ts';
import type { CommandLine } from './command-line.ts';
import { quote, usageError } from './usage-error.ts';

/** Returns the role that the command names, or `serve`. */
export function roleOf({ args }: CommandLine): Role {
  const name = args[0] ?? 'serve';
  const role = Object.hasOwn(roles, name) ? roles[name] : undefined;
  if (role) return role;
  const names = Object.keys(roles).join(', ');
  throw usageError(`${quote(name)} is not a role. Choose one of ${names}.`);
}
