import type { FessDocument } from './fess-api/fess-api.ts';

/** Fess truncates its digests at 200 characters, so longer text is more than a digest. */
const digestCharsMax = 200;

/** Index text that is certainly more than a digest. */
export function fullIndexText(document: FessDocument): string | undefined {
  const text = anyIndexText(document);
  return text !== undefined && text.length > digestCharsMax ? text : undefined;
}

/** The longest text that the index returns: content, body or digest. */
export function anyIndexText({ content, digest, fields }: FessDocument): string | undefined {
  return longest([content, fields['body'], digest]);
}

/** Content or body, however short: the operator lets Fess return it, and short documents have no more. */
export function indexedBody({ content, fields }: FessDocument): string | undefined {
  return longest([content, fields['body']]);
}

function longest(texts: readonly unknown[]): string | undefined {
  return texts
    .filter((text) => typeof text === 'string')
    .filter((text) => text.trim() !== '')
    .toSorted((a, b) => b.length - a.length)[0];
}
