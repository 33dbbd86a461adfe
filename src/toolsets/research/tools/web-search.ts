import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import type { Origin } from '../../../tools/origin.ts';
import { boundedText } from '../../../tools/text-input.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import type { ProviderChain } from '../web-search/provider-chain.ts';

/** Max and default of the argument `limit`, from the research server's specification. An operator may allow more. */
const limitMax = 5;
const limitDefault = 3;

/** `resultsMax`: the operator's limit on results. */
export function createWebSearchTool({ resultsMax }: { resultsMax: number }, chain: ProviderChain): Tool {
  return defineTool({
    name: 'web_search',
    title: 'Search the web',
    description:
      'Searches the web; returns titles, URLs and snippets. Read a page with fetch_page before relying on it.',
    effect: 'read',
    openWorld: true,
    quota: 'search',
    argumentError: 'validation_error',
    input: z.object({
      query: boundedText({ required: true, max: 1000, trim: true }),
      limit: z
        .int()
        .min(1)
        .max(Math.max(limitMax, resultsMax))
        .default(limitDefault)
        .describe(`At most ${resultsMax}.`),
      provider: z.enum(chain.names).optional().describe(`Provider to try first; default ${chain.chosen}.`),
    }),
    output: looseOutput(
      'results: [{title, url, snippet}], provider, query, origin, attempts?: [{provider, outcome, status?}]',
    ),
    async run({ query, limit, provider }, call) {
      const search = { query, limit: Math.min(limit, resultsMax), provider, signal: call.signal };
      const answer = await chain.search(search);
      const attempts = answer.attempts.length > 1 ? { attempts: answer.attempts } : {};
      if (answer.results.length === 0) throw nothingFound(query, answer.provider, attempts);
      return { results: answer.results, provider: answer.provider, query, origin: 'web' satisfies Origin, ...attempts };
    },
  });
}

function nothingFound(query: string, provider: string, attempts: object): CarrelError {
  return new CarrelError('search_no_results', `${provider} found nothing for this query. Try other or fewer words.`, {
    data: { details: { query, provider, ...attempts } },
  });
}
