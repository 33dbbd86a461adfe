import { loadRoleConfig, prepareRole } from '../app/program.ts';
import { createRoleOffer } from '../app/role-offer.ts';
import { createSharedParts } from '../app/shared-parts.ts';
import { silentLogger } from '../base/log.ts';
import { createCallJobs } from '../jobs/call-jobs.ts';
import { estimateTokens } from '../tools/token-estimate.ts';
import type { CommandLine } from './command-line.ts';
import { subjectOf } from './subject.ts';

/** Lists the tools of a role and what a model pays for having them in its context. */
export async function toolsCommand(line: CommandLine): Promise<void> {
  const role = await prepareRole(subjectOf(line), line.flags);
  const config = loadRoleConfig(role, line.flags);
  const jobs = createCallJobs();
  const toolsets = await role.openToolsets(config, silentLogger, jobs, createSharedParts(config));
  try {
    const { catalogue, instructions } = createRoleOffer(role, config, silentLogger, toolsets, { jobs });
    const tools = catalogue.listings.map((listing) => ({
      name: listing.name,
      tokens: estimateTokens(JSON.stringify(listing)),
    }));
    const total = tools.reduce((sum, { tokens }) => sum + tokens, estimateTokens(instructions));
    if (line.flags['json'] === true) {
      process.stdout.write(`${JSON.stringify({ tools, total }, null, 2)}\n`);
      return;
    }
    for (const { name, tokens } of tools) process.stdout.write(`${name.padEnd(32)}${String(tokens).padStart(8)}\n`);
    process.stdout.write(
      `${`${tools.length} tools and the instructions`.padEnd(32)}${String(total).padStart(8)} tokens (estimated)\n`,
    );
  } finally {
    await Promise.all(toolsets.map((toolset) => toolset.close?.()));
  }
}
