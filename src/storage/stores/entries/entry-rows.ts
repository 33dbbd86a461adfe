import type { Entry, NewImage } from '../../contracts/entries.ts';
import type { ContentType, Source } from '../../contracts/entry-filter.ts';
import type { Dialect, Statements } from '../../dialect.ts';
import { bytesOf, numberOf, optionalTextOf, type Row, textOf, textsOf } from '../../rows.ts';
import { parseMetadata } from './metadata-fields.ts';

/**
 * What `entriesOf` needs of an entry `o`. A long text is shortened where it lies, not where it is read to. With `unless`, a
 * condition on `o`, what may be long is left out of those for which it holds.
 */
export function entryColumns({ schema, textList }: Dialect, textChars?: number, unless?: string): string {
  const text = textChars === undefined ? 'o.text_content' : `substr(o.text_content, 1, ${Math.ceil(textChars)})`;
  const long = Object.entries({ text_content: text, metadata: 'o.metadata', summary: 'o.summary' }).map(
    ([name, value]) => `${unless === undefined ? value : `CASE WHEN ${unless} THEN NULL ELSE ${value} END`} AS ${name}`,
  );
  const tags = textList(`SELECT t.tag AS value FROM ${schema}context_tags t WHERE t.entry = o.key ORDER BY t.tag`);
  return `o.key, o.thread_id, o.source, o.content_type, ${long.join(', ')}, o.text_hash, o.created_at, o.updated_at,
    ${tags} AS tags`;
}

/** Entries of these rows, in their order, and if wanted with images. */
export async function entriesOf(on: Statements, rows: readonly Row[], images: boolean): Promise<Entry[]> {
  if (rows.length === 0) return [];
  const list = { list: rows.map((row) => numberOf(row, 'key')) };
  const imageRows = images
    ? await on.query(
        `SELECT entry, data, mime_type, metadata FROM ${on.dialect.schema}context_images
          WHERE entry IN (${on.dialect.integers}) ORDER BY entry, position`,
        [list],
      )
    : [];
  const pictures = Map.groupBy(imageRows, (row) => numberOf(row, 'entry'));
  return rows.map((row) => {
    const entry = entryOf(row);
    return images ? { ...entry, images: (pictures.get(entry.id) ?? []).map(imageOf) } : entry;
  });
}

function entryOf(row: Row): Entry {
  const metadata = optionalTextOf(row, 'metadata');
  return {
    id: numberOf(row, 'key'),
    threadId: textOf(row, 'thread_id'),
    // The schema allows no others.
    source: textOf(row, 'source') as Source,
    contentType: textOf(row, 'content_type') as ContentType,
    text: textOf(row, 'text_content'),
    textHash: textOf(row, 'text_hash'),
    metadata: metadata === undefined ? undefined : parseMetadata(metadata),
    summary: optionalTextOf(row, 'summary'),
    tags: textsOf(row, 'tags'),
    createdAt: textOf(row, 'created_at'),
    updatedAt: textOf(row, 'updated_at'),
  };
}

export function imageOf(row: Row): NewImage {
  const metadata = optionalTextOf(row, 'metadata');
  return {
    data: bytesOf(row, 'data'),
    mimeType: textOf(row, 'mime_type'),
    metadata: metadata === undefined ? undefined : parseMetadata(metadata),
  };
}
