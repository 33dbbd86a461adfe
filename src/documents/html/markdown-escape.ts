/** Escapes only characters that Markdown would read as markup inside a line. */
export function escapeInline(text: string): string {
  return text
    .replace(/[\\`*[\]]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/<(?=[a-zA-Z/!?])/g, '\\<')
    .replaceAll('~~', '\\~\\~');
}

/** Escapes a start that would turn a paragraph's line into a heading, quote, list, rule or fence. */
export function escapeLineStart(line: string): string {
  if (/^(?:#{1,6}(?:\s|$)|>|[-+](?:\s|$)|~~~|={2,}\s*$|-{3,}\s*$)/.test(line)) return `\\${line}`;
  return line.replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
}

/** Returns a fence that is longer than any run of backticks in the code. */
export function fenceFor(code: string): string {
  return '`'.repeat(Math.max(3, longestRun(code) + 1));
}

export function inlineCode(code: string): string {
  const line = code.replace(/\s+/g, ' ');
  const marks = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${marks}${pad}${line}${pad}${marks}`;
}

function longestRun(code: string): number {
  let longest = 0;
  for (const run of code.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  return Math.min(longest, 100);
}
