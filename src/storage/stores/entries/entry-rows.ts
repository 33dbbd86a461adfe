import type { Entry, NewImage } from '../../contracts/entries.ts';
import type { ContentType, Source } from '../../contracts/entry-filter.ts';
import type { Statements } from '../../dialect.ts';
import { bytesOf, numberOf, optionalTextOf, type Row, textOf } from '../../rows.ts';
import { parseMetadata } from './metadata-fields.ts';

/** Entries of these rows, in their order, with their tags and, if wanted, images. */
export async function entriesOf(on: Statements, rows: readonly Row[], images: boolean): Promise<Entry[]> {
  if (rows.length === 0) return [];
  const list = { list: rows.map((row) => numberOf(row, 'key')) };
  const tagRows = await on.query(
    `SELECT entry, tag FROM ${on.dialect.schema}context_tags WHERE entry IN (${on.dialect.integers})
      ORDER BY entry, tag`,
    [list],
  );
  const imageRows = images
    ? await on.query(
        `SELECT entry, data, mime_type, metadata FROM ${on.dialect.schema}context_images
          WHERE entry IN (${on.dialect.integers}) ORDER BY entry, position`,
        [list],
      )
    : [];
  const tags = Map.groupBy(tagRows, (row) => numberOf(row, 'entry'));
  const pictures = Map.groupBy(imageRows, (row) => numberOf(row, 'entry'));
  return rows.map((row) => {
    const id = numberOf(row, 'key');
    const entry = entryOf(
      row,
      (tags.get(id) ?? []).map((tag) => textOf(tag, 'tag')),
    );
    return images ? { ...entry, images: (pictures.get(id) ?? []).map(imageOf) } : entry;
  });
}

function entryOf(row: Row, tags: string[]): Entry {
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
    tags,
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
