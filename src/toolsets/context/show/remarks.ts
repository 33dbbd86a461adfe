/** Remarks after a message, in parentheses; those that do not apply are left out. */
export function remarks(...notes: (string | false | undefined)[]): string {
  const said = notes.filter((note) => typeof note === 'string');
  return said.length === 0 ? '' : ` (${said.join(', ')})`;
}
