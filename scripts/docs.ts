/**
 * Generates docs/command-line.md, docs/configuration.md, docs/errors.md, docs/tools.md, the bounds in docs/context.md and the
 * pinned tool schemas: `npm run docs`.
 * `test/docs.test.ts` fails if the committed files are not what this would write.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { essentialTools } from '../src/app/essential-tools.ts';
import { loadRoleConfig, prepareRole, programSlices } from '../src/app/program.ts';
import type { Role } from '../src/app/role.ts';
import { createRoleOffer } from '../src/app/role-offer.ts';
import { roles } from '../src/app/roles.ts';
import { createSharedParts } from '../src/app/shared-parts.ts';
import { type ErrorKind, errorCodes } from '../src/base/errors.ts';
import { silentLogger } from '../src/base/log.ts';
import { type CommandDescription, type CommandGroup, groups } from '../src/cli/commands/command.ts';
import { commands } from '../src/cli/commands/commands.ts';
import { everywhere, type FlagDescription } from '../src/cli/flags.ts';
import { flagUsage, usageOf } from '../src/cli/help.ts';
import { tokensOf } from '../src/cli/tools.ts';
import { typicalAnswers } from '../src/cli/typical-answers.ts';
import type { Slice } from '../src/config/field.ts';
import { createCallJobs } from '../src/jobs/call-jobs.ts';
import type { ToolListing } from '../src/tools/catalogue.ts';
import { bounds } from '../src/toolsets/context/bounds.ts';

const root = join(import.meta.dirname, '..');

/** Every generated file and its content. */
export async function generatedFiles(): Promise<Record<string, string>> {
  const listings: Record<string, readonly ToolListing[]> = {};
  for (const role of Object.values(roles)) listings[role.name] = await listTools(role);
  return {
    'docs/command-line.md': commandLinePage(),
    'docs/configuration.md': configurationPage(Object.values(roles)),
    'docs/errors.md': errorsPage(),
    'docs/context.md': withBounds(readFileSync(join(root, 'docs/context.md'), 'utf8')),
    'docs/tools.md': toolsPage(listings['serve'] ?? [], await listTools(serveRole(), { withFess: false })),
    'test/snapshots/tools.json': `${JSON.stringify(listings, null, 2)}\n`,
  };
}

/** The page of the context store, with its bounds as the code has them. */
function withBounds(page: string): string {
  const rows = Object.values(bounds).map(
    ({ name, max, unit }) => `| ${name.replace(/\w+_\w+/g, '`$&`')} | ${max.toLocaleString('en')} ${unit} |`,
  );
  const [before, after] = ['<!-- bounds -->', '<!-- /bounds -->'].map((mark) => page.indexOf(mark));
  const table = ['<!-- bounds -->', '| of | at most |', '|---|---|', ...rows, ''].join('\n');
  return `${page.slice(0, before)}${table}${page.slice(after)}`;
}

/** A bridge to Fess has a domain in every name and description: the pages show one called `finance`. */
const exampleFess = {
  fessBaseUrl: 'http://127.0.0.1:9',
  domain: {
    id: 'finance',
    name: 'Finance',
    description: 'Reports, budgets and policies of the finance department',
    labelFilter: 'finance',
  },
};

/** `withFess`: with an example of a bridge in a role that joins one if it is configured. */
export async function listTools(chosen: Role, { withFess = true } = {}): Promise<readonly ToolListing[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'carrel-docs-'));
  const fessFile = join(dataDir, '.mcp-feiss', 'config.json');
  mkdirSync(dirname(fessFile));
  if (withFess) writeFileSync(fessFile, JSON.stringify(exampleFess));
  const flags = { 'data-dir': dataDir };
  const env = { HOME: dataDir, ...(withFess ? { CARREL_FESS_CONFIG: fessFile } : {}) };
  const role = await prepareRole(chosen, flags, env);
  const config = loadRoleConfig(role, flags, env);
  const jobs = createCallJobs();
  const toolsets = await role.openToolsets(config, silentLogger, jobs, createSharedParts(config, silentLogger));
  try {
    return createRoleOffer(role, config, silentLogger, toolsets, { jobs }).catalogue.listings;
  } finally {
    await Promise.all(toolsets.map((toolset) => toolset.close?.()));
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** What a caller does about each kind of error. */
const kindSections: Readonly<Record<ErrorKind, string>> = {
  input: 'Change the arguments. The same call fails again.',
  not_found: 'The call was correct, but the thing does not exist, or the caller may not see it.',
  limit: 'Ask for less, or wait and try again. Most limits are settings.',
  forbidden: 'A rule of the operator refuses the call. Only the operator can change that.',
  upstream: 'Something outside Carrel failed. The same call may succeed later.',
  timeout: 'Something took too long. Narrow the request, or raise the limit.',
  cancelled: 'Somebody stopped the call.',
  config: 'Fix the configuration and start again. A supervisor must not retry.',
  internal: 'Please report it, with the incident id and the log around it.',
};

function errorsPage(): string {
  const sections = Object.entries(kindSections).map(([kind, advice]) => {
    const rows = Object.entries(errorCodes).flatMap(([code, [own, when]]) =>
      own === kind ? [`| \`${code}\` | ${cell(when)} |`] : [],
    );
    return `## ${kind}\n\n${advice}\n\n| code | when |\n|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Error codes

*Generated from the code by \`npm run docs\`.* After reading this page you can tell from the code of an error what went wrong and
whether trying again helps.

Every error has a code, a message that says what to do, and sometimes data. Each code has a kind. Where to find the code:

| from | where |
|---|---|
| tools of \`carrel serve\`, \`context\` and \`kb\` | \`structuredContent.error.code\` of a result with \`isError\` |
| tools of \`carrel research\` and \`fess\` | \`error.data.code\` of the JSON-RPC error |
| the HTTP API of \`carrel engine\` | \`error\` in the JSON body |
| the command line | stderr and the exit code: 2 usage, 69 unavailable, 78 configuration, 1 anything else |

${sections.join('\n')}`;
}

function commandLinePage(): string {
  const sections = (Object.keys(groups) as CommandGroup[]).map((group) => {
    const own = commands.filter((command) => command.group === group);
    return `## ${groups[group]}\n\n${own.map(commandSection).join('\n')}`;
  });
  return `# Command line

*Generated from the code by \`npm run docs\`.*

\`carrel help\` lists the commands, \`carrel help <command>\` or \`carrel <command> --help\` shows one in detail. A misspelt command
or flag is answered with the one that was probably meant. \`carrel completion bash|zsh|fish\` prints a script that lets the shell
complete them.

The commands that search and store call the tools of \`carrel serve\` in their own process, with the same settings and data
(\`--data-dir\`, \`--config\`, the environment); they may run besides a server, and say on stderr where they looked. On a terminal
they print a table that fits it; elsewhere, and with \`--json\`, the tool's own answer. Characters that control a terminal (escapes,
controls, bidirectional marks) are replaced by \ufffd in tables. \`NO_COLOR\` is respected. \`--open\` passes the first file to the
system's default program, without a shell, if it is a document that is displayed and not executed.

Exit codes: 0 fine, 1 unexpected or not found, 2 usage, 69 something it depends on is unavailable, 78 configuration.

Every command takes:

${flagTable(everywhere)}
${sections.join('\n')}`;
}

function commandSection(command: CommandDescription): string {
  const own = command.flags.filter((flag) => !everywhere.includes(flag));
  const more = command.more === undefined ? '' : `${command.more}\n\n`;
  const examples = command.examples === undefined ? '' : `\`\`\`sh\n${command.examples.join('\n')}\n\`\`\`\n\n`;
  return `### ${command.name}\n\n\`${usageOf(command)}\`: ${command.summary}.\n\n${more}${examples}${own.length === 0 ? '' : `${flagTable(own)}`}`;
}

function flagTable(flags: readonly FlagDescription[]): string {
  const rows = flags.map((flag) => `| \`${cell(flagUsage(flag))}\` | ${cell(flag.summary)} |`);
  return `| flag | what it does |\n|---|---|\n${rows.join('\n')}\n`;
}

function configurationPage(allRoles: readonly Role[]): string {
  const slices = new Map(
    [...programSlices, ...allRoles.flatMap((role) => role.slices)].map((slice) => [slice.name, slice]),
  );
  return `# Configuration

*Generated from the code by \`npm run docs\`.*

Every setting has a default. Later sources win: defaults, the configuration file (\`config.json\` in the data folder, or the
one that \`--config\` names), the environment, flags. In the file, settings are grouped by section: \`{"http": {"port": 9000}}\`.
\`carrel config [role]\` shows the effective values and where each came from. The data folder is \`~/.carrel\`,
\`CARREL_HOME\` or \`--data-dir\`.

${[...slices.values()].map(sliceSection).join('\n')}
## What roles change

| role | setting | default | variables |
|---|---|---|---|
${allRoles.flatMap(overrideRows).join('\n')}
`;
}

function sliceSection(slice: Slice): string {
  const rows = Object.entries(slice.fields).map(([name, field]) => {
    const sources = [
      ...field.env.map((variable) => `\`${variable}\``),
      ...[field.flag ?? [], field.flags ?? []].flat().map((flag) => `\`--${flag}\``),
    ];
    const cells = [
      `\`${slice.name}.${name}\``,
      field.kind,
      showDefault(field.default),
      sources.join(', '),
      field.description,
    ];
    return `| ${cells.map(cell).join(' | ')} |`;
  });
  return `## ${slice.title}\n\n| setting | value | default | variable, flag | what it does |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

function overrideRows({ name, overrides }: Role): string[] {
  return Object.entries(overrides).map(([path, { default: value, env }]) => {
    const variables = (env ?? []).map((variable) => `\`${variable}\``).join(', ');
    return `| ${name} | \`${path}\` | ${value === undefined ? '' : showDefault(value)} | ${variables} |`;
  });
}

function serveRole(): Role {
  const role = roles['serve'];
  assert(role);
  return role;
}

function toolsPage(listings: readonly ToolListing[], usual: readonly ToolListing[]): string {
  const essential = usual.filter(({ name }) => essentialTools.has(name));
  return `# Tools

*Generated from the code by \`npm run docs\`.* These are the tools of \`carrel serve\`: ${usual.length}, which together cost a model about
${tokensOf(usual).toLocaleString('en')} tokens, and ${listings.length - usual.length} more for each domain of a Fess server that is configured. \`--tools essential\`
(\`CARREL_TOOLS\`) lists the ${essential.length} that are marked with a star, for about ${tokensOf(essential).toLocaleString('en')} tokens. Counted is the list as
\`tools/list\` sends it: names, descriptions, the schemas of arguments and answers, annotations. Many clients hand a model
only part of it. \`carrel tools\` shows what each tool costs, and a typical answer of it.

| tool | tokens | tokens of a typical answer |
|---|---|---|
${usual.map(costRow).join('\n')}

${listings.map(toolSection).join('\n')}`;
}

function costRow(listing: ToolListing): string {
  const { name } = listing;
  const star = essentialTools.has(name) ? ' *' : '';
  return `| [${name}](#${name})${star} | ${tokensOf([listing])} | ${typicalAnswers[name] ?? ''} |`;
}

function toolSection({ name, title, description, inputSchema, annotations }: ToolListing): string {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, Record<string, unknown>>;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([argument, schema]) => {
    const what = String(schema['description'] ?? '');
    const cells = [`\`${argument}\``, required.includes(argument) ? 'yes' : '', describeSchema(schema), what];
    return `| ${cells.map(cell).join(' | ')} |`;
  });
  const effect = annotations.readOnlyHint ? 'reads' : annotations.destructiveHint ? 'changes' : 'adds';
  const table =
    rows.length === 0
      ? 'No arguments.\n'
      : `| argument | needed | value | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  return `## ${name}\n\n**${title}** (${effect}). ${description}\n\n${table}`;
}

function describeSchema(schema: Record<string, unknown>): string {
  const { type, enum: values, minimum, maximum, minLength, maxLength, maxItems, items, default: preset } = schema;
  const parts = [Array.isArray(values) ? values.map((value) => `\`${value}\``).join(' or ') : String(type ?? 'any')];
  if (type === 'array' && items) parts[0] = `array of ${(items as { type?: string }).type ?? 'values'}`;
  if (minimum !== undefined || maximum !== undefined) parts.push(`${minimum ?? ''}…${maximum ?? ''}`);
  if (maxLength !== undefined) parts.push(`${minLength ?? 0}…${maxLength} characters`);
  if (maxItems !== undefined) parts.push(`at most ${maxItems}`);
  if (preset !== undefined) parts.push(`default ${JSON.stringify(preset)}`);
  return parts.join(', ');
}

function showDefault(value: unknown): string {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return '';
  return `\`${Array.isArray(value) ? value.join(',') : value}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

if (process.argv[1] === import.meta.filename) {
  for (const [file, content] of Object.entries(await generatedFiles())) {
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    if (readIfThere(path) !== content) {
      writeFileSync(path, content);
      console.log(`wrote ${file}`);
    }
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
