/** The name of a document among the passages. */
export function parentOf(document: number): string {
  return String(document);
}

/** By which searches are narrowed. */
export function tagLabel(tag: string): string {
  return `tag:${tag}`;
}

export function typeLabel(docType: string): string {
  return `type:${docType}`;
}

export function labelsOf(docType: string, tags: readonly string[]): string[] {
  return [typeLabel(docType), ...tags.map(tagLabel)];
}
