import { rerankPage, rerankRange, type TextToRerank } from '../../search/rank/rerank-page.ts';
import type { Reranker } from '../../search/rerank/reranker.ts';
import type { ListedNote, NoteStore } from '../../storage/notes/notes.ts';

interface NoteSearch {
  readonly query: string;
  readonly tags?: readonly string[] | undefined;
  readonly limit: number;
  readonly offset: number;
  /** Omit low-relevance notes. */
  readonly hidesWeak: boolean;
  readonly signal: AbortSignal;
}

/** Searches notes by words and reranks the best ones. */
export async function searchNotes(request: NoteSearch, notes: NoteStore, reranker: Reranker) {
  const { query, tags, limit, offset, hidesWeak, signal } = request;
  const rankedRange = rerankRange({ limit, offset });
  const { notes: found, total } = await notes.list({ query, tags, ...rankedRange }, { signal });
  const ranked = found.map((note, index) => {
    const { key = -index, share = 0, coverage = 0 } = note.match ?? {};
    return { id: key, score: share, coverage, note };
  });
  const texts = new Map<number, TextToRerank>(
    ranked.map(({ id, note }) => [
      id,
      { text: note.match?.passage ?? note.snippet.text, prefix: `${headingOf(note)}\n` },
    ]),
  );
  const { page, omitted, reranking } = await rerankPage(
    {
      text: query,
      limit,
      offset: offset - rankedRange.offset,
      before: rankedRange.offset,
      cutoff: hidesWeak ? 'weak' : undefined,
      signal,
    },
    ranked,
    { reranker, words: undefined, texts: async () => texts },
  );
  const shown = page.map(({ hit: { note }, relevance, evidence }) => ({ note, relevance, evidence }));
  return { notes: shown, total, omitted, reranking };
}

function headingOf({ title, tags }: ListedNote): string {
  return tags.length === 0 ? title : `${title} / ${tags.join(', ')}`;
}
