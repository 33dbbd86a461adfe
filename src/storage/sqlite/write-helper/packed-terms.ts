import type { DocumentTerms } from '../../../words/ranking/bm25.ts';
import type { IndexedTexts } from '../../../words/ranking/word-index.ts';

/** Title, heading and body of one document after the other: a list of texts passes between threads faster than objects. */
export type PackedTexts = readonly string[];

export interface PackedTerms {
  /** Both streams of each field. */
  readonly streams: readonly string[];
  /** The number of terms of each field. */
  readonly lengths: Uint32Array;
}

const fieldsOfDocument = 3;

export function packTexts(documents: readonly IndexedTexts[]): PackedTexts {
  const packed: string[] = [];
  for (const { title, heading, body } of documents) packed.push(title, heading, body);
  return packed;
}

export function unpackTexts(packed: PackedTexts): IndexedTexts[] {
  const documents: IndexedTexts[] = [];
  for (let at = 0; at < packed.length; at += fieldsOfDocument) {
    documents.push({ title: packed[at] ?? '', heading: packed[at + 1] ?? '', body: packed[at + 2] ?? '' });
  }
  return documents;
}

export function packTerms(documents: readonly DocumentTerms[]): PackedTerms {
  const streams: string[] = [];
  const lengths = new Uint32Array(fieldsOfDocument * documents.length);
  let at = 0;
  for (const { title, heading, body } of documents) {
    for (const field of [title, heading, body]) {
      streams.push(field.main, field.extra);
      lengths[at] = field.length;
      at += 1;
    }
  }
  return { streams, lengths };
}

export function unpackTerms({ streams, lengths }: PackedTerms): DocumentTerms[] {
  const field = (at: number) => ({
    main: streams[2 * at] ?? '',
    extra: streams[2 * at + 1] ?? '',
    length: lengths[at] ?? 0,
  });
  const documents: DocumentTerms[] = [];
  for (let at = 0; at < lengths.length; at += fieldsOfDocument) {
    documents.push({ title: field(at), heading: field(at + 1), body: field(at + 2) });
  }
  return documents;
}
