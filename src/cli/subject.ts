import type { Role } from '../app/role.ts';
import { roles } from '../app/roles.ts';
import { CarrelError } from '../base/errors.ts';
import type { CommandLine } from './command-line.ts';

/** Returns the role that the command names, or `serve`. */
export function subjectOf({ words }: CommandLine): Role {
  const name = words[0] ?? 'serve';
  const role = Object.hasOwn(roles, name) ? roles[name] : undefined;
  if (role) return role;
  const known = Object.keys(roles).join(', ');
  throw new CarrelError('invalid_usage', `${JSON.stringify(name.slice(0, 60))} is not a role. Choose one of ${known}.`);
}
