/**
 * Replaces characters that not every database can store: PostgreSQL rejects NUL, and UTF-8 cannot encode half a surrogate pair.
 * For texts that the program finds itself, such as file contents. Such characters in a caller's text are an error instead.
 */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

export function storableOrNull(text: string | undefined): string | null {
  return text === undefined ? null : storable(text);
}

/** Explains why a text cannot be stored, for a message that starts with the argument's name. Undefined if it can be stored. */
export function unstorableReason(text: string): string | undefined {
  const part = unstorablePart(text);
  return part === undefined ? undefined : `has ${part}, which cannot be stored; leave it out`;
}

function unstorablePart(text: string): string | undefined {
  if (!text.isWellFormed()) return 'half of a surrogate pair (U+D800 to U+DFFF)';
  return text.includes('\0') ? 'the character NUL (U+0000)' : undefined;
}

/** Returns the texts with composed and with decomposed accents. People write both forms, which look the same. */
export function bothForms(texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap((text) => [text, text.normalize('NFC'), text.normalize('NFD')]))];
}
