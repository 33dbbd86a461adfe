import type { Reranker } from '../../search/rerank/reranker.ts';
import type { CitableTexts } from '../../tools/citable-texts.ts';
import type { SearchSource } from '../../tools/search-source.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { createFindFilteredTool, createFindTool } from './tools/find.ts';
import { createVerifyTool } from './tools/verify.ts';

export interface FindDeps {
  readonly reranker: Reranker;
  /** Releases the dependencies of this toolset. */
  readonly close: () => Promise<void>;
}

/** Creates the toolset that searches all sources at once and verifies quotations. */
export function createFindToolset(
  sources: readonly SearchSource[],
  texts: readonly CitableTexts[],
  { reranker, close }: FindDeps,
): Toolset {
  return {
    name: 'find',
    tools: [createFindTool(sources, reranker), createVerifyTool(texts)],
    consoleTools: [createFindFilteredTool(sources, reranker)],
    failures: { as: 'result' },
    close,
  };
}
