/** How a column is kept: SQLite has lists as JSON and vectors as bytes, PostgreSQL has arrays of both. */
export type ColumnKind = 'text' | 'number' | 'texts' | 'bytes' | 'reals';

/** A value in the form that both databases are read into and written from. */
export type MovedValue = string | number | null | readonly string[] | Uint8Array | Float32Array;

export interface MoveTable {
  readonly name: string;
  /** In the order of the values of a row. */
  readonly columns: readonly { readonly name: string; readonly kind: ColumnKind }[];
}

const lists = new Set(['notes.tags', 'notes.source_urls', 'kb_passages.headings', 'kb_passages.labels']);

/** By the type that SQLite declares for it. */
export function columnKind(table: string, column: string, declared: string): ColumnKind {
  if (lists.has(`${table}.${column}`)) return 'texts';
  if (declared === 'INTEGER' || declared === 'REAL') return 'number';
  if (declared !== 'BLOB') return 'text';
  return column === 'vector' ? 'reals' : 'bytes';
}

/**
 * Tables of one database that are made anew in the other from what was moved: indexes, sums, and what one of them keeps beside a
 * list. Originals are rows in one and files in the other.
 */
export function isMadeAnew(table: string): boolean {
  return (
    /_(?:words(?:_\w+)?|statistics|vector_blocks)$/.test(table) ||
    ['note_tags', 'kb_passage_labels', 'kb_originals', 'kb_original_parts'].includes(table)
  );
}
