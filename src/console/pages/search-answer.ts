import { makeSnippet } from '../../words/snippet.ts';
import { plainQuery } from '../../words/word-query.ts';
import { read, type Visit } from '../console-tools.ts';

export interface Answer {
  hits: Record<string, unknown>[];
  sources: Record<string, unknown>[];
  weakOmitted: number;
  hint: string;
  /** True if these are only keyword results, which the ranked answer replaces. */
  wordsOnly: boolean;
}

export const filterNames = ['source', 'collection', 'type', 'tag', 'date', 'sort', 'weak'] as const;

export interface SearchRequest {
  text: string;
  filters: Partial<Record<(typeof filterNames)[number], string>>;
  /** If true, only keyword results are requested. */
  wordsOnly: boolean;
}

/** Searches with `find_filtered`, or with `kb_search` on a server that only has the knowledge base. */
export async function searchAll(tools: Visit['tools'], request: SearchRequest): Promise<Answer> {
  return tools.has('find_filtered') ? await findFiltered(tools, request) : await searchDocuments(tools, request);
}

/** Max results of a search. */
export const limit = 30;

async function findFiltered(tools: Visit['tools'], { text, filters, wordsOnly }: SearchRequest): Promise<Answer> {
  const { source, collection, type, tag, weak } = filters;
  const answer = await tools.call('find_filtered', {
    query: text,
    limit,
    ...withoutUndefined({ source, collection, type, tag }),
    include_weak: weak === '1',
    words_only: wordsOnly,
  });
  return {
    hits: read.list(answer, 'results'),
    sources: wordsOnly ? [] : read.list(answer, 'sources'),
    weakOmitted: wordsOnly ? 0 : (read.number(answer, 'weak_omitted') ?? 0),
    hint: read.text(answer, 'hint'),
    wordsOnly,
  };
}

async function searchDocuments(tools: Visit['tools'], { text, filters }: SearchRequest): Promise<Answer> {
  const { collection, type, tag, weak } = filters;
  const answer = await tools.call('kb_search', {
    query: text,
    limit,
    explain: true,
    ...withoutUndefined({ collection, doc_type: type }),
    ...(tag === undefined ? {} : { tags: [tag] }),
    include_weak: weak === '1',
  });
  const words = plainQuery(text);
  const hits = read.list(answer, 'results').map((hit) => {
    const { page, section_header: section } = read.object(hit, 'chunk_metadata');
    const snippet = makeSnippet(read.text(hit, 'text'), words);
    return {
      ...hit,
      source: 'kb',
      snippet: snippet.text,
      range: snippet.range,
      place: [page === undefined ? '' : `page ${String(page)}`, section ?? ''].filter((part) => part !== '').join(', '),
      date: hit['created_at'],
      type: hit['doc_type'],
      scores: read.object(read.object(hit, 'why'), 'evidence'),
      why: '',
    };
  });
  const weakOmitted = read.number(answer, 'weak_omitted') ?? 0;
  return { hits, sources: [], weakOmitted, hint: read.text(answer, 'hint'), wordsOnly: false };
}

function withoutUndefined(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
