/** Formats remarks for the end of a message, in parentheses. Falsy ones are dropped. */
export function remarks(...notes: (string | false | undefined)[]): string {
  const said = notes.filter((note) => typeof note === 'string');
  return said.length === 0 ? '' : ` (${said.join(', ')})`;
}
