import type { EngineHit } from '../../../engine/engine.ts';
import { type ShownHit, showHit } from './shapes.ts';

export type JoinedHit = ShownHit & {
  /** Indexes of the first and last chunk of a merged hit. */
  chunk_indexes?: [number, number];
};

/** Merges two hits on consecutive chunks into one, at the rank of the better one. */
export function joinHits(hits: readonly EngineHit[]): JoinedHit[] {
  const shown: { hit: EngineHit; joined?: EngineHit }[] = [];
  for (const hit of hits) {
    const beside = shown.find(({ hit: other, joined }) => joined === undefined && areNeighbours(hit, other));
    if (beside === undefined) shown.push({ hit });
    else beside.joined = hit;
  }
  return shown.map(({ hit, joined }) => (joined === undefined ? showHit(hit) : showJoined(hit, joined)));
}

function areNeighbours(one: EngineHit, other: EngineHit): boolean {
  return (
    one.document_id !== null &&
    one.document_id === other.document_id &&
    Math.abs(one.chunk_index - other.chunk_index) === 1
  );
}

function showJoined(better: EngineHit, other: EngineHit): JoinedHit {
  const [first, second] = better.chunk_index < other.chunk_index ? [better, other] : [other, better];
  const { line_end: end } = second.chunk_metadata;
  return {
    ...showHit({
      ...better,
      chunk_index: first.chunk_index,
      text: `${first.text}\n\n${second.text}`,
      chunk_metadata: { ...first.chunk_metadata, ...(end === undefined ? {} : { line_end: end }) },
    }),
    chunk_indexes: [first.chunk_index, second.chunk_index],
  };
}
