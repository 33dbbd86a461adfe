import { estimateTokens } from '../answers/token-estimate.ts';
import { loadRoleConfig, prepareRole } from '../app/program.ts';
import { createRoleFeatures } from '../app/role-features.ts';
import { createSharedServices } from '../app/shared-services.ts';
import { silentLogger } from '../base/log.ts';
import { createCallJobs } from '../jobs/call-jobs.ts';
import type { ToolListing } from '../tools/catalogue.ts';
import type { CommandLine } from './command-line.ts';
import { roleOf } from './named-role.ts';

/** Lists a role's tools with their cost in tokens: the definition, including schemas, and a typical answer. */
export async function toolsCommand(line: CommandLine): Promise<void> {
  const role = await prepareRole(roleOf(line), line.flags);
  const config = loadRoleConfig(role, line.flags);
  const jobs = createCallJobs();
  const toolsets = await role.openToolsets(config, silentLogger, jobs, createSharedServices(config, silentLogger));
  try {
    const { catalogue, instructions } = createRoleFeatures(role, config, silentLogger, toolsets, { jobs });
    const tools = catalogue.listings.map((listing) => ({
      name: listing.name,
      tokens: estimateTokens(JSON.stringify(listing)),
      ...(listing.name in typicalAnswers ? { answer_tokens: typicalAnswers[listing.name] } : {}),
    }));
    const total = tokensOf(catalogue.listings);
    const instructionTokens = estimateTokens(instructions);
    if (line.flags['json'] === true) {
      process.stdout.write(`${JSON.stringify({ tools, total, instructions: instructionTokens }, null, 2)}\n`);
      return;
    }
    printRow('TOOL', 'DEFINITION', 'TYPICAL ANSWER');
    for (const { name, tokens, answer_tokens: answer } of tools) printRow(name, tokens, answer ?? '');
    printRow(`${tools.length} tools, as tools/list sends them`, total, '');
    printRow('server instructions', instructionTokens, '');
    process.stdout.write('Estimated tokens. A definition is the name, description, and input and output schemas.\n');
  } finally {
    await Promise.all(toolsets.map((toolset) => toolset.close?.()));
  }
}

function printRow(name: string, definition: number | string, answer: number | string): void {
  const cells = [name.padEnd(36), String(definition).padStart(10), String(answer).padStart(16)];
  process.stdout.write(`${cells.join('').trimEnd()}\n`);
}

/** Estimates the tokens of a tool list. */
export function tokensOf(listings: readonly ToolListing[]): number {
  return estimateTokens(JSON.stringify(listings));
}

/**
 * Tokens of a typical answer of each tool, in the o200k encoding. Passages have fifty tokens and no metadata.
 * test/tokens.test.ts checks the numbers.
 */
export const typicalAnswers: Readonly<Record<string, number>> = {
  find: 1_040,
  verify: 50,
  store_context: 25,
  hybrid_search_context: 790,
  search_context: 630,
  get_context_by_ids: 120,
  list_threads: 145,
  kb_search: 600,
  kb_add: 30,
  kb_get: 170,
  kb_list: 300,
};
