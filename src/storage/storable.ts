/** PostgreSQL takes no NUL, UTF-8 no half of a surrogate pair: what one backend cannot keep, neither does. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
