import type { SearchSource } from '../../tools/search-source.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { createFindTool } from './tools/find.ts';

/** One search over everything that this server has. */
export function createFindToolset(sources: readonly SearchSource[]): Toolset {
  return { name: 'find', tools: [createFindTool(sources)], failures: { as: 'result' } };
}
