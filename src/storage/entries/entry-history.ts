import { textHash } from '../../base/text-hash.ts';
import type { Dialect, Statements } from '../dialect.ts';
import { bytesOf, field, numberOf, optionalTextOf, type RecordOf, type Row, recordOf, textOf } from '../rows.ts';
import { type Entry, entryFields, metadataOf, type NewImage } from './entry.ts';

/** Returns the columns of an entry `o` that `entriesOf` needs. `textChars` limits the text. */
export function entryColumns({ textList }: Dialect, textChars?: number): string {
  const text = textChars === undefined ? 'o.text_content' : `substr(o.text_content, 1, ${Math.ceil(textChars)})`;
  const tags = textList('SELECT t.tag AS value FROM context_tags t WHERE t.entry = o.key ORDER BY t.tag');
  return `o.key, o.thread_id, o.source, o.content_type, ${text} AS text_content, o.text_hash, o.metadata, o.summary,
    o.created_at, o.updated_at, ${tags} AS tags`;
}

/** Returns the entries of these rows, in order, as they were at `asOf` if set. Omits entries whose earlier state is unknown. */
export async function entriesOf(
  db: Statements,
  rows: readonly Row[],
  images: boolean,
  asOf: string | undefined,
): Promise<Entry[]> {
  const entries = rows.map((row) => recordOf(entryFields, row));
  const ids = entries.map(({ id }) => id);
  const byEntry = images ? await imagesOf(db, 'context_images', 'entry', ids) : undefined;
  const complete = byEntry ? entries.map((entry) => ({ ...entry, images: byEntry.get(entry.id) ?? [] })) : entries;
  return asOf === undefined ? complete : entriesAsOf(db, complete, asOf);
}

export function imageOf(row: Row): NewImage {
  return { data: bytesOf(row, 'data'), mimeType: textOf(row, 'mime_type'), metadata: metadataOf(row) };
}

/** Stores the current state of an entry as an earlier version, before an update that replaces the parts in `replaced`. */
export async function storeVersion(
  db: Statements,
  row: Row,
  replaced: { readonly text: boolean; readonly images: boolean },
): Promise<void> {
  const id = numberOf(row, 'key');
  const tags = await db.query('SELECT tag FROM context_tags WHERE entry = ? ORDER BY tag', [id]);
  const hasReplacedImages = replaced.images && textOf(row, 'content_type') === 'multimodal';
  const [version = {}] = await db.query(
    `INSERT INTO context_versions (entry, updated_at, replaced_at, content_type, text_content,
      summary, metadata, tags, replaced_images) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    [
      id,
      textOf(row, 'updated_at'),
      db.now,
      textOf(row, 'content_type'),
      ...(replaced.text ? [textOf(row, 'text_content'), optionalTextOf(row, 'summary') ?? null] : [null, null]),
      optionalTextOf(row, 'metadata') ?? null,
      JSON.stringify(tags.map((tag) => textOf(tag, 'tag'))),
      hasReplacedImages ? 1 : 0,
    ],
  );
  if (!hasReplacedImages) return;
  await db.query(
    `INSERT INTO context_version_images (version, position, mime_type, metadata, data)
      SELECT CAST(? AS bigint), position, mime_type, metadata, data FROM context_images
      WHERE entry = ?`,
    [numberOf(version, 'key'), id],
  );
}

const pastFields = {
  contentType: entryFields.contentType,
  metadata: entryFields.metadata,
  tags: field.json<readonly string[]>('tags'),
  updatedAt: entryFields.updatedAt,
};

/** An entry as it was at a time before its last change. */
interface PastState extends RecordOf<typeof pastFields> {
  /** The version that contains the text of that time. Undefined if the text has not changed since. */
  readonly textVersion: number | undefined;
  /** The version that contains the images of that time. Undefined if they have not changed since. */
  readonly imagesVersion: number | undefined;
}

/** Returns the state at `asOf` of entries that were changed later. A state is undefined if it is no longer stored. */
export async function pastStates(
  db: Statements,
  ids: readonly number[],
  asOf: string,
): Promise<Map<number, PastState | undefined>> {
  const rows = await db.query(
    `SELECT v.key, v.entry, v.updated_at, v.content_type, v.metadata, v.tags, v.replaced_images,
      CASE WHEN v.text_content IS NULL THEN 0 ELSE 1 END AS replaced_text FROM context_versions v
      WHERE v.entry IN (${db.dialect.integers}) AND v.replaced_at > ? ORDER BY v.entry, v.replaced_at, v.key`,
    [{ list: ids }, asOf],
  );
  const versions = Map.groupBy(rows, (row) => numberOf(row, 'entry'));
  return new Map(ids.map((id) => [id, stateOf(versions.get(id) ?? [], asOf)]));
}

function stateOf(versions: readonly Row[], asOf: string): PastState | undefined {
  const [first] = versions;
  if (first === undefined || textOf(first, 'updated_at') > asOf) return undefined;
  const firstWith = (column: string) => {
    const version = versions.find((row) => numberOf(row, column) === 1);
    return version && numberOf(version, 'key');
  };
  return {
    ...recordOf(pastFields, first),
    textVersion: firstWith('replaced_text'),
    imagesVersion: firstWith('replaced_images'),
  };
}

async function entriesAsOf(db: Statements, entries: readonly Entry[], asOf: string): Promise<Entry[]> {
  const changed = entries.filter(({ updatedAt }) => updatedAt > asOf).map(({ id }) => id);
  if (changed.length === 0) return [...entries];
  const states = await pastStates(db, changed, asOf);
  const stored = [...states.values()].filter((state) => state !== undefined);
  const textVersions = stored.flatMap(({ textVersion }) => textVersion ?? []);
  const texts = await pastTexts(db, textVersions);
  const withImages = entries.some((entry) => entry.images !== undefined);
  const imageVersions = withImages ? stored.flatMap(({ imagesVersion }) => imagesVersion ?? []) : [];
  const images = await imagesOf(db, 'context_version_images', 'version', imageVersions);
  return entries.flatMap((entry) => {
    if (!states.has(entry.id)) return [entry];
    const state = states.get(entry.id);
    if (state === undefined) return [];
    const { textVersion, imagesVersion, ...past } = state;
    const pastImages = imagesVersion === undefined ? entry.images : images.get(imagesVersion);
    return [
      {
        ...entry,
        ...past,
        ...(textVersion === undefined ? {} : texts.get(textVersion)),
        ...(entry.images === undefined ? {} : { images: past.contentType === 'text' ? [] : (pastImages ?? []) }),
      },
    ];
  });
}

/** Returns the texts of earlier versions, with their summaries. */
async function pastTexts(
  db: Statements,
  versions: readonly number[],
): Promise<Map<number, Pick<Entry, 'text' | 'textHash' | 'summary'>>> {
  const rows = await db.query(
    `SELECT key, text_content, summary FROM context_versions WHERE key IN (${db.dialect.integers})`,
    [{ list: versions }],
  );
  return new Map(
    rows.map((row) => {
      const text = textOf(row, 'text_content');
      return [numberOf(row, 'key'), { text, textHash: textHash(text), summary: optionalTextOf(row, 'summary') }];
    }),
  );
}

async function imagesOf(
  db: Statements,
  table: 'context_images' | 'context_version_images',
  owner: 'entry' | 'version',
  owners: readonly number[],
): Promise<Map<number, NewImage[]>> {
  if (owners.length === 0) return new Map();
  const rows = await db.query(
    `SELECT ${owner}, data, mime_type, metadata FROM ${table}
      WHERE ${owner} IN (${db.dialect.integers}) ORDER BY ${owner}, position`,
    [{ list: owners }],
  );
  const byOwner = Map.groupBy(rows, (row) => numberOf(row, owner));
  return new Map([...byOwner].map(([key, images]) => [key, images.map(imageOf)]));
}
