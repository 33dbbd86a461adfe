import { choice, noWords, yesWords } from './field.ts';

/** The spellings of true and false that mcp-context-server accepts. */
const aliases = Object.fromEntries([
  ...[...yesWords, 'True', 'TRUE'].map((word) => [word, 'true'] as const),
  ...[...noWords, 'False', 'FALSE'].map((word) => [word, 'false'] as const),
]);

/** A setting that is `auto`, yes or no. */
export function automatic(options: { env: readonly string[]; description: string }) {
  return choice(['auto', 'true', 'false'], { default: 'auto', aliases, ...options });
}
