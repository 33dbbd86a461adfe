/** Names that the program itself uses for callers. */
const reserved = ['default', 'local'];

export const nameRule =
  'must have 1 to 64 letters, digits, dots, hyphens or underscores, begin with a letter or digit, and not be default or local';

/** Whether a token may have this name. It stands in logs, metrics and tables. */
export function isTokenName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) && !reserved.includes(name);
}
