import type { Reranker } from '../../search/rerank/reranker.ts';
import type { CitableTexts } from '../../tools/citable-texts.ts';
import type { SearchSource } from '../../tools/search-source.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { createFindTool } from './tools/find.ts';
import { createVerifyTool } from './tools/verify.ts';

export interface FindDeps {
  readonly reranker: Reranker;
  /** Releases what the toolset was given. */
  readonly close: () => Promise<void>;
}

/** One search over everything that this server has, and the check of what is quoted from it. */
export function createFindToolset(
  sources: readonly SearchSource[],
  texts: readonly CitableTexts[],
  { reranker, close }: FindDeps,
): Toolset {
  return {
    name: 'find',
    tools: [createFindTool(sources, reranker), createVerifyTool(texts)],
    failures: { as: 'result' },
    close,
  };
}
