import { createHash } from 'node:crypto';

/** Of a passage as it is embedded: a change of its title or headings changes its vectors too. */
export function passageHash(titlePath: readonly string[], body: string): string {
  return createHash('sha256')
    .update(JSON.stringify([...titlePath, body]))
    .digest('hex');
}

/** Title and headings, outermost first; a title that is also the first heading appears once. */
export function titlePathOf(title: string, headings: readonly string[]): string[] {
  const named = title === '' || headings[0] === title ? headings : [title, ...headings];
  return named.filter((part) => part !== '');
}
