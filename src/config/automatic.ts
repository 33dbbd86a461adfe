import { choice } from './field.ts';

/** The words for yes and no that the original of seed 002 accepts, and JSON's own in a configuration file. */
const yes = ['true', 'True', 'TRUE', '1', 'yes', 'on'];
const no = ['false', 'False', 'FALSE', '0', 'no', 'off'];
const aliases = Object.fromEntries([
  ...yes.map((word) => [word, 'true'] as const),
  ...no.map((word) => [word, 'false'] as const),
]);

/** A setting that is `auto`, yes or no. */
export function automatic(options: { env: readonly string[]; description: string }) {
  return choice(['auto', 'true', 'false'], { default: 'auto', aliases, ...options });
}
