/** PostgreSQL cannot store NUL, nor UTF-8 half a surrogate pair: what one database cannot store, neither does. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
