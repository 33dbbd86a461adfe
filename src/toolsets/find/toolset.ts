import type { Reranker } from '../../search/reranking/reranker.ts';
import type { SearchSource } from '../../tools/search-source.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { createFindTool } from './tools/find.ts';

export interface FindDeps {
  readonly reranker: Reranker;
  /** Releases what the toolset was given. */
  readonly close: () => Promise<void>;
}

/** One search over everything that this server has. */
export function createFindToolset(sources: readonly SearchSource[], { reranker, close }: FindDeps): Toolset {
  return { name: 'find', tools: [createFindTool(sources, reranker)], failures: { as: 'result' }, close };
}
