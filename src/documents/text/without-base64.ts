/** Min characters of a run to remove. It is longer than any word, hash or key that people search for. */
const runMin = 400;
/** Min lines of a block to remove. Encoded bytes come in many lines of equal length. */
const linesMin = 8;

/**
 * Removes base64-encoded bytes (RFC 4648): keys, inline images, attachments. They would fill an index with meaningless words.
 * Keeps the line breaks, so that line numbers stay right.
 */
export function withoutBase64(text: string): string {
  if (!/[A-Za-z0-9+/_-]{60}/.test(text)) return text;
  return withoutBlocks(text.replace(base64Run, (match) => (isEncoded(match) ? '' : match)));
}

const base64Run = new RegExp(`(?:data:[a-z]+/[a-z0-9.+-]+;base64,)?[A-Za-z0-9+/]{${runMin},}={0,2}`, 'g');
const base64Line = /^[ \t>]*[A-Za-z0-9+/]{60,100}={0,2}\r?$/;

function withoutBlocks(text: string): string {
  const lines = text.split('\n');
  for (let first = 0; first < lines.length; first += 1) {
    let end = first;
    while (end < lines.length && base64Line.test(lines[end] ?? '')) end += 1;
    if (end - first >= linesMin && isEncoded(lines.slice(first, end).join(''))) lines.fill('', first, end);
    if (end > first) first = end;
  }
  return lines.join('\n');
}

/** Detects encoded bytes: they use capitals, small letters and digits about equally. A genome or a very long word does not. */
function isEncoded(text: string): boolean {
  // A sample is enough. Listing all matches in megabytes of text would need a hundred times as much memory.
  const sample = text.slice(0, 4000);
  const shareOf = (pattern: RegExp) => (sample.match(pattern)?.length ?? 0) / sample.length;
  return shareOf(/[A-Z]/g) > 0.15 && shareOf(/[a-z]/g) > 0.15 && shareOf(/[0-9]/g) > 0.05;
}
