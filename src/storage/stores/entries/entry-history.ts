import { textHash } from '../../../base/text-hash.ts';
import type { Entry, Metadata, NewImage } from '../../contracts/entries.ts';
import type { ContentType } from '../../contracts/entry-filter.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, optionalTextOf, type Row, textOf } from '../../rows.ts';
import { imageOf } from './entry-rows.ts';
import { parseMetadata } from './metadata-fields.ts';

/** What an update is about to replace. */
export interface Replaced {
  readonly text: boolean;
  readonly images: boolean;
}

/** Keeps an entry as it is, before it is changed. `row` is its row. */
export async function keepVersion(on: Statements, row: Row, replaced: Replaced): Promise<void> {
  const id = numberOf(row, 'key');
  const tags = await on.query(`SELECT tag FROM ${on.dialect.schema}context_tags WHERE entry = ? ORDER BY tag`, [id]);
  const movesImages = replaced.images && textOf(row, 'content_type') === 'multimodal';
  const [version = {}] = await on.query(
    `INSERT INTO ${on.dialect.schema}context_versions (entry, updated_at, replaced_at, content_type, text_content,
      summary, metadata, tags, replaced_images) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    [
      id,
      textOf(row, 'updated_at'),
      on.now,
      textOf(row, 'content_type'),
      ...(replaced.text ? [textOf(row, 'text_content'), optionalTextOf(row, 'summary') ?? null] : [null, null]),
      optionalTextOf(row, 'metadata') ?? null,
      JSON.stringify(tags.map((tag) => textOf(tag, 'tag'))),
      movesImages ? 1 : 0,
    ],
  );
  if (!movesImages) return;
  await on.query(
    `INSERT INTO ${on.dialect.schema}context_version_images (version, position, mime_type, metadata, data)
      SELECT CAST(? AS bigint), position, mime_type, metadata, data FROM ${on.dialect.schema}context_images
      WHERE entry = ?`,
    [numberOf(version, 'key'), id],
  );
}

/** An entry as it was at a time after which it was changed. */
export interface PastState {
  readonly contentType: ContentType;
  readonly metadata: Metadata | undefined;
  readonly tags: readonly string[];
  readonly updatedAt: string;
  /** Of the version with the text of that time. Undefined if it is today's. */
  readonly textVersion: number | undefined;
  /** The same for the images. */
  readonly imagesVersion: number | undefined;
}

/** The earlier state of those entries that were changed after the time; undefined for an entry if it is no longer known. */
export async function pastStates(
  on: Statements,
  ids: readonly number[],
  asOf: string,
): Promise<Map<number, PastState | undefined>> {
  const rows = await on.query(
    `SELECT v.key, v.entry, v.updated_at, v.content_type, v.metadata, v.tags, v.replaced_images,
      CASE WHEN v.text_content IS NULL THEN 0 ELSE 1 END AS replaced_text FROM ${on.dialect.schema}context_versions v
      WHERE v.entry IN (${on.dialect.integers}) AND v.replaced_at > ? ORDER BY v.entry, v.replaced_at, v.key`,
    [{ list: ids }, asOf],
  );
  const versions = Map.groupBy(rows, (row) => numberOf(row, 'entry'));
  return new Map(ids.map((id) => [id, stateOf(versions.get(id) ?? [], asOf)]));
}

function stateOf(versions: readonly Row[], asOf: string): PastState | undefined {
  const [first] = versions;
  if (first === undefined || textOf(first, 'updated_at') > asOf) return undefined;
  const holding = (column: string) => {
    const holder = versions.find((row) => numberOf(row, column) === 1);
    return holder && numberOf(holder, 'key');
  };
  const metadata = optionalTextOf(first, 'metadata');
  return {
    // The schema of entries allows no others.
    contentType: textOf(first, 'content_type') as ContentType,
    metadata: metadata === undefined ? undefined : parseMetadata(metadata),
    tags: JSON.parse(textOf(first, 'tags')),
    updatedAt: textOf(first, 'updated_at'),
    textVersion: holding('replaced_text'),
    imagesVersion: holding('replaced_images'),
  };
}

/** The entries as they were. Those whose earlier state is unknown are left out. */
export async function entriesThen(on: Statements, entries: readonly Entry[], asOf: string): Promise<Entry[]> {
  const changed = entries.filter(({ updatedAt }) => updatedAt > asOf).map(({ id }) => id);
  if (changed.length === 0) return [...entries];
  const states = await pastStates(on, changed, asOf);
  const known = [...states.values()].filter((state) => state !== undefined);
  const texts = await textsOf(
    on,
    known.flatMap(({ textVersion }) => textVersion ?? []),
  );
  const images = await imagesOf(
    on,
    entries.some((entry) => entry.images !== undefined)
      ? known.flatMap(({ imagesVersion }) => imagesVersion ?? [])
      : [],
  );
  return entries.flatMap((entry) => {
    if (!states.has(entry.id)) return [entry];
    const state = states.get(entry.id);
    if (state === undefined) return [];
    const { textVersion, imagesVersion, ...past } = state;
    return [
      {
        ...entry,
        ...past,
        ...(textVersion === undefined ? {} : texts.get(textVersion)),
        ...(entry.images === undefined ? {} : { images: imagesThen(entry.images, state, images) }),
      },
    ];
  });
}

function imagesThen(
  current: readonly NewImage[],
  { contentType, imagesVersion }: PastState,
  kept: ReadonlyMap<number, NewImage[]>,
): readonly NewImage[] {
  if (contentType === 'text') return [];
  return imagesVersion === undefined ? current : (kept.get(imagesVersion) ?? []);
}

/** Texts with the summaries that belong to them. */
async function textsOf(
  on: Statements,
  versions: readonly number[],
): Promise<Map<number, Pick<Entry, 'text' | 'textHash' | 'summary'>>> {
  const rows = await on.query(
    `SELECT key, text_content, summary FROM ${on.dialect.schema}context_versions WHERE key IN (${on.dialect.integers})`,
    [{ list: versions }],
  );
  return new Map(
    rows.map((row) => {
      const text = textOf(row, 'text_content');
      return [numberOf(row, 'key'), { text, textHash: textHash(text), summary: optionalTextOf(row, 'summary') }];
    }),
  );
}

async function imagesOf(on: Statements, versions: readonly number[]): Promise<Map<number, NewImage[]>> {
  const rows = await on.query(
    `SELECT version, data, mime_type, metadata FROM ${on.dialect.schema}context_version_images
      WHERE version IN (${on.dialect.integers}) ORDER BY version, position`,
    [{ list: versions }],
  );
  const byVersion = Map.groupBy(rows, (row) => numberOf(row, 'version'));
  return new Map([...byVersion].map(([version, images]) => [version, images.map(imageOf)]));
}
