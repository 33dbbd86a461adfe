import { choice, noWords, yesWords } from './field.ts';

/** The words for yes and no that mcp-context-server accepts, and JSON's own. */
const aliases = Object.fromEntries([
  ...[...yesWords, 'True', 'TRUE'].map((word) => [word, 'true'] as const),
  ...[...noWords, 'False', 'FALSE'].map((word) => [word, 'false'] as const),
]);

/** A setting that is `auto`, yes or no. */
export function automatic(options: { env: readonly string[]; description: string }) {
  return choice(['auto', 'true', 'false'], { default: 'auto', aliases, ...options });
}
