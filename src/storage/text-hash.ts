import { createHash } from 'node:crypto';

/** Of a passage as it is embedded: a change of what stands above it changes its vectors too. */
export function passageHash(titlePath: readonly string[], body: string): string {
  return createHash('sha256')
    .update(JSON.stringify([...titlePath, body]))
    .digest('hex');
}

/** Title and headings, outermost first; a title that is the first heading too is told once. */
export function titlePathOf(title: string, headings: readonly string[]): string[] {
  const named = title === '' || headings[0] === title ? headings : [title, ...headings];
  return named.filter((part) => part !== '');
}
