import { randomUUID } from 'node:crypto';
import { createRandom } from '../../test/fuzz/random.ts';
import type { Caller, Fields } from './caller.ts';

export type KindName = 'entry' | 'note' | 'document';

/** How one kind of item is written and read through the tools. Each item has a unique word. */
export interface Kind {
  /** Adds an item. Returns its id or, for kinds with jobs, a reference for `resolveId`. */
  add(word: string, client: number): Promise<string>;
  /** Returns the item's id once its job is done. Undefined for kinds without jobs. `reference` is what `add` returned. */
  readonly resolveId: ((reference: string) => Promise<string | undefined>) | undefined;
  /** Writes a new version and returns the id. Undefined for kinds that never change. */
  readonly change: ((id: string, word: string, version: number) => Promise<string>) | undefined;
  /** Several ways to read or find the item, each through a different index. */
  readonly reads: Readonly<Record<string, (id: string, word: string) => Promise<ReadResult>>>;
}

/** Returns the name of an item in the history. */
export function nameOf({ kind, word }: { readonly kind: KindName; readonly word: string }): string {
  return `${kind} ${word}`;
}

/** One id per hit for the item, and the version seen. */
export interface ReadResult {
  readonly ids: readonly string[];
  readonly version: number | undefined;
}

/** Words that texts are made of. Large enough that random texts differ as much as real ones on different subjects. */
const vocabulary = Array.from({ length: 2_000 }, (_, number) => lettersOf(number + 512));
const textWords = 30;

function textOf(word: string, version: number): string {
  const random = createRandom(seedOf(word), version);
  const fillerWords = Array.from({ length: textWords }, () => random.pick(vocabulary));
  return `${word} version ${version} ${fillerWords.join(' ')}`;
}

/** Spells a number in letters that no stemmer mistakes for a suffix. */
export function lettersOf(number: number): string {
  return number.toString(8).replace(/\d/g, (digit) => 'bcdfghkm'[Number(digit)] ?? '');
}

function seedOf(word: string): number {
  return Buffer.from(word).reduce((sum, byte) => Math.imul(sum, 31) + byte, 7);
}

/**
 * Embeds a text like a model: each word has its own direction, so texts that share more words are nearer. Unique words count
 * more. Otherwise, a query for a unique word might by chance be nearer to another text.
 */
export function embedWords(text: string): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const { next } = createRandom(seedOf(word), 0);
    const weight = knownWords.has(word) ? 1 : uniqueWordWeight;
    for (let at = 0; at < dimensions; at += 1) vector[at] = (vector[at] ?? 0) + weight * (next() - 0.5);
  }
  return vector;
}

/** Weight of a unique word: about as much as all other words of its text together. */
const uniqueWordWeight = 6;
const knownWords = new Set([...vocabulary, 'version']);

/** The same number as in the bundled model. With fewer, unrelated texts would often be near by chance. */
const dimensions = 384;

export function versionIn(text: unknown): number | undefined {
  const [, version] = / version (\d+) /.exec(` ${text} `) ?? [];
  return version === undefined ? undefined : Number(version);
}

/** Selects the hits that contain the word, because semantic search also finds other items. */
function matchesFor(hits: unknown, word: string, idOf: (hit: Fields) => unknown): ReadResult {
  const matches = (hits as Fields[]).filter((hit) => JSON.stringify(hit).includes(word));
  const [first] = matches;
  const { text_content: text, text: passage, snippet } = first ?? {};
  return { ids: matches.map((hit) => String(idOf(hit))), version: versionIn(text ?? passage ?? snippet) };
}

export function createEntries({ call }: Caller, isRepeated: () => boolean): Kind {
  const write = async (tool: string, args: Fields): Promise<string> => {
    const keyedArgs = { ...args, idempotency_key: randomUUID() };
    const ids = (await send(isRepeated(), () => call(tool, keyedArgs))).map(({ context_id: id }) => String(id));
    return sameId(tool, ids);
  };
  // In semantic search, other texts may be nearer, but the text with the word is among the first 20.
  const search = async (tool: string, word: string): Promise<ReadResult> =>
    matchesFor((await call(tool, { query: word, limit: 20 }))['results'], word, ({ id }) => id);
  return {
    add: (word, client) =>
      write('store_context', { thread_id: threadOf(client), source: 'agent', text: textOf(word, 1), tags: ['scale'] }),
    resolveId: undefined,
    change: (id, word, version) =>
      write('update_context', { context_id: Number(id), text: textOf(word, version), metadata_patch: { version } }),
    reads: {
      async get(id, word) {
        const { result } = await call('get_context_by_ids', { context_ids: [Number(id)] });
        return matchesFor(result, word, ({ id: entryId }) => entryId);
      },
      fts: (_, word) => search('fts_search_context', word),
      hybrid: (_, word) => search('hybrid_search_context', word),
    },
  };
}

export function threadOf(client: number): string {
  return `client ${client}`;
}

export function createNotes({ call }: Caller, isRepeated: () => boolean): Kind {
  const write = async (tool: string, args: Fields): Promise<string> => {
    const keyedArgs = { ...args, idempotency_key: randomUUID() };
    const ids = (await send(isRepeated(), () => call(tool, keyedArgs))).map(({ note }) => String(Object(note).id));
    return sameId(tool, ids);
  };
  return {
    add: (word) => write('save_note', { title: word, content: textOf(word, 1), tags: ['scale'] }),
    resolveId: undefined,
    change: (id, word, version) => write('update_note', { id, content: textOf(word, version) }),
    reads: {
      async get(id) {
        const { note } = await call('get_note', { id });
        return { ids: [id], version: versionIn(Object(note).content) };
      },
      async list(_, word) {
        const { notes } = await call('list_notes', { query: word });
        return { ...matchesFor(notes, word, ({ id }) => id), version: undefined };
      },
    },
  };
}

/** Creates the kind `document`. Documents are uploaded in two pieces, so that the calls of an upload reach several processes. */
export function createDocuments({ call }: Caller, isRepeated: () => boolean): Kind {
  return {
    async add(word) {
      const bytes = Buffer.from(`# ${word}\n\n${textOf(word, 1)}\n\n${textOf(word, 2)}\n`);
      const { upload_id } = await call('kb_upload_start', { filename: `${word}.md`, total_size: bytes.length });
      const half = bytes.length >> 1;
      for (const [chunk_index, piece] of [bytes.subarray(0, half), bytes.subarray(half)].entries()) {
        await call('kb_upload_chunk', { upload_id, chunk_index, data: piece.toString('base64') });
      }
      const finished = await send(isRepeated(), () => call('kb_upload_finish', { upload_id }));
      // A retry after a crash may report that the content already exists.
      const accepted = finished.find(({ job_id: id }) => id !== undefined);
      return accepted ? `job ${accepted['job_id']}` : `document ${finished[0]?.['document_id']}`;
    },
    async resolveId(reference) {
      const [referenceKind, number] = reference.split(' ');
      if (referenceKind === 'document') return number;
      const { jobs } = await call('kb_jobs', { job_id: Number(number) });
      const [{ status, document_id: id, error } = {}] = jobs as Fields[];
      if (status === 'failed' || status === 'skipped') throw new Error(`ingestion ${status}: ${error}`);
      return status === 'done' ? String(id) : undefined;
    },
    change: undefined,
    reads: {
      async search(_, word) {
        const { results } = await call('kb_search', { query: word });
        // Each chunk of the document is a hit.
        const { ids, version } = matchesFor(results, word, ({ document_id: id }) => id);
        return { ids: [...new Set(ids)], version };
      },
    },
  };
}

/** Sends a call once or, if `isRepeated` is set, twice at the same moment, so that two processes get it. */
async function send<Result>(isRepeated: boolean, call: () => Promise<Result>): Promise<Result[]> {
  return Promise.all(isRepeated ? [call(), call()] : [call()]);
}

/** Returns the id of a write that was sent twice with one key. Throws if the two answers differ. */
function sameId(tool: string, ids: readonly string[]): string {
  const [id = ''] = ids;
  if (ids.some((other) => other !== id)) throw new Error(`${tool}, sent twice with one key, returned ${ids}`);
  return id;
}
