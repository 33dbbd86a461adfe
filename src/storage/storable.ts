/** PostgreSQL cannot store NUL, nor UTF-8 half a surrogate pair: what one database cannot store, neither does. */
export function storable(text: string): string {
  // Nearly always so, and lists of documents are long: this takes a fraction of the time.
  if (text.isWellFormed() && !text.includes('\0')) return text;
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
