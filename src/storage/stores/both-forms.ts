/** With accents as a part of their letters and apart from them: people write both, and cannot see which. */
export function bothForms(texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap((text) => [text, text.normalize('NFC'), text.normalize('NFD')]))];
}
