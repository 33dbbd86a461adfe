/**
 * Generates docs/command-line.md, docs/configuration.md, docs/errors.md, docs/tools.md, the bounds in docs/context.md and the
 * pinned tool schemas: `npm run docs`. `test/docs.test.ts` fails if the committed files differ from the generated ones.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadRoleConfig, prepareRole, programSlices } from '../src/app/program.ts';
import type { Role } from '../src/app/role.ts';
import { createRoleFeatures, essentialTools } from '../src/app/role-features.ts';
import { roles } from '../src/app/roles.ts';
import { createSharedServices } from '../src/app/shared-services.ts';
import { type ErrorKind, errorCodes } from '../src/base/errors.ts';
import { silentLogger } from '../src/base/log.ts';
import { type CommandDescription, type CommandGroup, groups } from '../src/cli/commands/command.ts';
import { commands } from '../src/cli/commands/commands.ts';
import { commonFlags, type FlagDescription } from '../src/cli/flags.ts';
import { flagUsage, usageOf } from '../src/cli/help.ts';
import { tokensOf, typicalAnswers } from '../src/cli/tools.ts';
import type { Slice } from '../src/config/field.ts';
import { createCallJobs } from '../src/jobs/call-jobs.ts';
import type { ToolListing } from '../src/tools/catalogue.ts';
import { bounds } from '../src/toolsets/context/inputs.ts';

const root = join(import.meta.dirname, '..');

/** Returns the content of every generated file, by path. */
export async function generatedFiles(): Promise<Record<string, string>> {
  const listings: Record<string, readonly ToolListing[]> = {};
  for (const role of Object.values(roles)) listings[role.name] = await listTools(role);
  return {
    'docs/command-line.md': commandLinePage(),
    'docs/configuration.md': configurationPage(Object.values(roles)),
    'docs/errors.md': errorsPage(),
    'docs/context.md': insertBounds(readFileSync(join(root, 'docs/context.md'), 'utf8')),
    'docs/tools.md': toolsPage(listings['serve'] ?? [], await listTools(serveRole(), { withFess: false })),
    'test/snapshots/tools.json': `${JSON.stringify(listings, null, 2)}\n`,
  };
}

/** Inserts the bounds from the code into docs/context.md. */
function insertBounds(page: string): string {
  const rows = Object.values(bounds).map(
    ({ name, max, unit }) => `| ${name.replace(/\w+_\w+/g, '`$&`')} | ${max.toLocaleString('en')} ${unit} |`,
  );
  const [before, after] = ['<!-- bounds -->', '<!-- /bounds -->'].map((mark) => page.indexOf(mark));
  const table = ['<!-- bounds -->', '| limit | maximum |', '|---|---|', ...rows, ''].join('\n');
  return `${page.slice(0, before)}${table}${page.slice(after)}`;
}

/** Example configuration for the pages: names and descriptions of the Fess tools contain a domain, here `finance`. */
const exampleFess = {
  fessBaseUrl: 'http://127.0.0.1:9',
  domain: {
    id: 'finance',
    name: 'Finance',
    description: 'Reports, budgets and policies of the finance department',
    labelFilter: 'finance',
  },
};

/** Lists the tools of a role. `withFess` adds the example's Fess tools, if the role can have any. */
export async function listTools(unpreparedRole: Role, { withFess = true } = {}): Promise<readonly ToolListing[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'carrel-docs-'));
  const fessFile = join(dataDir, '.mcp-feiss', 'config.json');
  mkdirSync(dirname(fessFile));
  if (withFess) writeFileSync(fessFile, JSON.stringify(exampleFess));
  const flags = { 'data-dir': dataDir };
  const env = { HOME: dataDir, ...(withFess ? { CARREL_FESS_CONFIG: fessFile } : {}) };
  const role = await prepareRole(unpreparedRole, flags, env);
  const config = loadRoleConfig(role, flags, env);
  const jobs = createCallJobs();
  const toolsets = await role.openToolsets(config, silentLogger, jobs, createSharedServices(config, silentLogger));
  try {
    return createRoleFeatures(role, config, silentLogger, toolsets, { jobs }).catalogue.listings;
  } finally {
    await Promise.all(toolsets.map((toolset) => toolset.close?.()));
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** For each kind of error, what the caller should do. */
const kindSections: Readonly<Record<ErrorKind, string>> = {
  input: 'Change the arguments. The same call would fail again.',
  not_found: 'The arguments are valid, but nothing matches them, or the caller may not see it.',
  limit: 'Request less, or wait and try again. Most limits are settings.',
  forbidden: 'The configuration or the rights of the token forbid the call. Only the operator can change that.',
  upstream: 'Something outside Carrel failed. The same call may succeed later.',
  timeout: 'Something took too long. Request less, or raise the limit.',
  cancelled: 'The caller or the user stopped the call.',
  config:
    'Fix the configuration or the database, then start Carrel again. A supervisor such as systemd should not restart it.',
  internal: 'Please report the error with its incident id and the log lines around it.',
};

function errorsPage(): string {
  const sections = Object.entries(kindSections).map(([kind, advice]) => {
    const rows = Object.entries(errorCodes).flatMap(([code, [errorKind, meaning]]) =>
      errorKind === kind ? [`| \`${code}\` | ${escapeCell(meaning)} |`] : [],
    );
    return `## ${kind}\n\n${advice}\n\n| code | what happened |\n|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Error codes

*Generated from the code by \`npm run docs\`.* This page explains the code of every error: what went wrong, and whether it helps to
try again.

An error has a code, a message that says what to do, and sometimes data. The codes are grouped by kind, one section for each. This
table shows where to find the code:

| error from | where the code is |
|---|---|
| tools of \`carrel serve\`, \`context\` and \`kb\` | \`structuredContent.error.code\` of a result with \`isError\` |
| tools of \`carrel research\` and \`fess\` | \`error.data.code\` of the JSON-RPC error |
| the HTTP API of \`carrel engine\` | \`error\` in the JSON body |
| the command line | not shown; stderr has the message, and the [exit code](roles.md#exit-codes) depends on the kind |

${sections.join('\n')}`;
}

function commandLinePage(): string {
  const sections = (Object.keys(groups) as CommandGroup[]).map((group) => {
    const groupCommands = commands.filter((command) => command.group === group);
    // Flags that a whole group takes are listed once, above its commands.
    const [first, ...otherCommands] = groupCommands;
    const sharedFlags = (first?.flags ?? []).filter(
      (flag) => !commonFlags.includes(flag) && otherCommands.every(({ flags }) => flags.includes(flag)),
    );
    const common =
      sharedFlags.length === 0 ? '' : `All commands in this group also take:\n\n${flagTable(sharedFlags)}\n`;
    const commandSections = groupCommands.map((command) => commandSection(command, [...commonFlags, ...sharedFlags]));
    return `## ${groups[group]}\n\n${common}${commandSections.join('\n')}`;
  });
  return `# Command line

*Generated from the code by \`npm run docs\`.*

This page lists every command and flag. \`carrel help\` lists the commands, and \`carrel help search\` describes \`search\`. If you
misspell a command or flag, the error message suggests the closest one. \`carrel completion bash\` prints a completion
script for bash; \`zsh\` and \`fish\` work too.

The commands under [Search and store](#search-and-store) call the tools of \`carrel serve\`, with the same settings and data. If a
process with these settings is already running, it answers the command. Each command names its database on stderr. On a terminal the
commands print a table. With \`--json\`, or if the output is redirected, they print the tool's answer as JSON. Control characters in a table
are replaced by \ufffd. If \`NO_COLOR\` is set, there are no colours. \`--open\` opens the file of the first result in the default
program, but only file types that are displayed, not executed.

The exit code is 0 after success. [Exit codes](roles.md#exit-codes) explains the others.

All commands take these flags, except that in \`carrel add\`, \`--version\` names the version that a web page documents:

${flagTable(commonFlags)}
${sections.join('\n')}`;
}

/** Commands, flags, files and variables in a help text. */
const codeInHelp =
  /carrel [a-z]+(?: [a-z]+ --all)?|--source web|--[a-z-]+|~?[\w./<>-]+\.(?:jsonl|json|md)\b|[A-Z]+_(?= |,|\.)/g;

function commandSection(command: CommandDescription, listedFlags: readonly FlagDescription[]): string {
  const flags = command.flags.filter((flag) => !listedFlags.includes(flag));
  // In help, commands and flags are plain text.
  const details = command.details === undefined ? '' : `${command.details.replaceAll(codeInHelp, '`$&`')}\n\n`;
  const examples = command.examples === undefined ? '' : `\`\`\`sh\n${command.examples.join('\n')}\n\`\`\`\n\n`;
  return `### ${command.name}\n\n\`${usageOf(command)}\`: ${command.summary}.\n\n${details}${examples}${flags.length === 0 ? '' : `${flagTable(flags)}`}`;
}

function flagTable(flags: readonly FlagDescription[]): string {
  const rows = flags.map((flag) => `| \`${escapeCell(flagUsage(flag))}\` | ${escapeCell(flag.summary)} |`);
  return `| flag | what it does |\n|---|---|\n${rows.join('\n')}\n`;
}

/** The settings that most people need, and what each is for. */
const firstSettings: Readonly<Record<string, string>> = {
  'http.host': 'accept connections from other machines',
  'http.port': 'listen on another port',
  'http.authToken': 'require a token',
  'http.allowedHosts': 'serve under a host name, for example behind a proxy',
  'tools.readOnly': 'offer only tools that change nothing',
  'tools.toolsets': 'offer only some toolsets',
  'tools.offered': 'list fewer tools, to save tokens',
  'storage.backend': 'store data in PostgreSQL',
  'storage.postgresUrl': 'set the address of the PostgreSQL database',
  'storage.path': 'move the SQLite file',
  'storage.language': 'search texts in a language other than English',
  'embedding.provider': 'use another embedding model, or none',
  'reranking.enabled': 'disable reranking on a slow machine',
  'kb.allowedRoots': 'let agents add local files by path',
  'engine.ocrLanguages': 'read scanned pages in other languages',
  'engine.fileBytesMax': 'accept larger files',
  'research.searchProvider': 'choose a web search provider',
  'research.fetchAllowPrivate': 'fetch pages from private addresses',
  'fess.configFile': 'connect a Fess server',
  'log.level': 'log more or less',
};

/** Sections of the configuration page: for each task, its groups of settings. Every group is in one section. */
const settingTasks: Readonly<Record<string, readonly string[]>> = {
  'Connect clients': ['http', 'sharing', 'tools'],
  'Control access': ['oauth'],
  'Store data': ['storage'],
  'Tune search': ['embedding', 'reranking'],
  'Set up memory': ['context'],
  'Set up the knowledge base': ['engine', 'kb', 'crawl'],
  'Set up web research': ['research'],
  'Connect Fess': ['fess'],
  Monitor: ['log', 'telemetry'],
};

function configurationPage(allRoles: readonly Role[]): string {
  const slices = new Map(
    [...programSlices, ...allRoles.flatMap((role) => role.slices)].map((slice) => [slice.name, slice]),
  );
  const tasks = Object.entries(settingTasks).map(([task, names]) => {
    const sections = names.map((name) => sliceSection(sliceNamed(name, slices)));
    return `## ${task}\n\n${sections.join('\n')}`;
  });
  const listedGroups = new Set(Object.values(settingTasks).flat());
  assert.deepEqual(
    [...slices.keys()].filter((name) => !listedGroups.has(name)),
    [],
    'settingTasks lacks a slice',
  );
  return `# Configuration

*Generated from the code by \`npm run docs\`.* This page lists every setting. You don't have to configure anything: every setting
has a default or is optional.

You can set a value in the configuration file, in an environment variable, or with a flag. A variable overrides the file, and a flag
overrides both. The configuration file is \`config.json\` in the data folder, or the file that \`--config\` names. Its settings are
grouped by section, so \`http.port\` is written as:

\`\`\`json
{ "http": { "port": 9000 } }
\`\`\`

The data folder is \`~/.carrel\`, unless \`CARREL_HOME\` or \`--data-dir\` names another. \`carrel config\` shows all settings with
their values and where each value came from.

## Start with these

| to do this | set | default |
|---|---|---|
${Object.entries(firstSettings)
  .map(([path, purpose]) => firstRow(path, purpose, slices))
  .join('\n')}

${tasks.join('\n')}
## Defaults by role

Some roles have other defaults, or accept other variables. If several variables are set, the first one in the row counts.

| role | setting | default | variables |
|---|---|---|---|
${allRoles.flatMap(overrideRows).join('\n')}
`;
}

function sliceNamed(name: string, slices: ReadonlyMap<string, Slice>): Slice {
  const slice = slices.get(name);
  assert(slice, name);
  return slice;
}

function firstRow(path: string, purpose: string, slices: ReadonlyMap<string, Slice>): string {
  const [section = '', name = ''] = path.split('.');
  const field = sliceNamed(section, slices).fields[name];
  assert(field, path);
  return `| ${purpose} | ${sourcesOf(field)} | ${formatDefault(field.default)} |`;
}

function sourcesOf(field: Slice['fields'][string]): string {
  const flags = [field.flag ?? [], field.flags ?? []].flat();
  return [...field.env.map((variable) => `\`${variable}\``), ...flags.map((flag) => `\`--${flag}\``)].join(', ');
}

function sliceSection(slice: Slice): string {
  const rows = Object.entries(slice.fields).map(([name, field]) => {
    const cells = [
      `\`${slice.name}.${name}\``,
      field.kind,
      formatDefault(field.default),
      sourcesOf(field),
      field.description,
    ];
    return `| ${cells.map(escapeCell).join(' | ')} |`;
  });
  return `### ${slice.title}\n\n| setting | value | default | variable, flag | description |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

function overrideRows({ name, overrides }: Role): string[] {
  return Object.entries(overrides).map(([path, { default: value, env }]) => {
    const variables = (env ?? []).map((variable) => `\`${variable}\``).join(', ');
    return `| ${name} | \`${path}\` | ${value === undefined ? '' : formatDefault(value)} | ${variables} |`;
  });
}

function serveRole(): Role {
  const role = roles['serve'];
  assert(role);
  return role;
}

function toolsPage(listings: readonly ToolListing[], toolsWithoutFess: readonly ToolListing[]): string {
  const essential = toolsWithoutFess.filter(({ name }) => essentialTools.has(name));
  return `# Tools

*Generated from the code by \`npm run docs\`.* This page lists every tool with its arguments and its cost in tokens.

\`carrel serve\` offers ${toolsWithoutFess.length} tools. Their definitions cost a model about ${tokensOf(toolsWithoutFess).toLocaleString('en')} tokens. Each configured Fess domain adds
${listings.length - toolsWithoutFess.length} tools. \`--tools essential\` (\`CARREL_TOOLS\`) lists only the ${essential.length} tools marked with a star, for about ${tokensOf(essential).toLocaleString('en')} tokens. The
figures cover everything that \`tools/list\` returns: names, descriptions, schemas and annotations. Many clients pass only part of this to the
model. \`carrel tools\` shows the same figures.

After the title of each tool, a word in parentheses shows whether the tool *reads*, *adds* or *changes* data. These arguments mean the
same everywhere:

- \`budget_tokens\`: max length of the answer, in tokens
- \`idempotency_key\`: calls with the same key run only once, so a call can be retried safely
- \`explain\`: adds the reason, the scores and a hash of the text to each result

| tool | tokens of the definition | tokens of a typical answer |
|---|---|---|
${toolsWithoutFess.map(costRow).join('\n')}

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
    const description = String(schema['description'] ?? '');
    const cells = [`\`${argument}\``, required.includes(argument) ? 'yes' : '', describeSchema(schema), description];
    return `| ${cells.map(escapeCell).join(' | ')} |`;
  });
  const writeEffect = annotations.destructiveHint ? 'changes' : 'adds';
  const effect = annotations.readOnlyHint ? 'reads' : writeEffect;
  const table =
    rows.length === 0
      ? 'No arguments.\n'
      : `| argument | required | value | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  return `## ${name}\n\n**${title}** (${effect}). ${description}\n\n${table}`;
}

function describeSchema(schema: Record<string, unknown>): string {
  const { type, enum: values, minimum, maximum, minLength, maxLength, maxItems, items, default: defaultValue } = schema;
  const parts = [
    Array.isArray(values)
      ? values
          .map((value) => `\`${value}\``)
          .join(', ')
          .replace(/, (?!.*, )/, ' or ')
      : String(type ?? 'any'),
  ];
  if (type === 'array' && items) parts[0] = `array of ${(items as { type?: string }).type ?? 'values'}`;
  if (minimum !== undefined && maximum !== undefined) parts.push(`${minimum} to ${maximum}`);
  else if (maximum !== undefined) parts.push(`at most ${maximum}`);
  else if (minimum !== undefined) parts.push(`at least ${minimum}`);
  if (maxLength !== undefined) parts.push(`${minLength ? `${minLength} to` : 'at most'} ${maxLength} characters`);
  if (maxItems !== undefined) parts.push(`at most ${maxItems}`);
  if (defaultValue !== undefined) parts.push(`default ${JSON.stringify(defaultValue)}`);
  return parts.join(', ');
}

function formatDefault(value: unknown): string {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return '';
  return `\`${Array.isArray(value) ? value.join(',') : value}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

if (process.argv[1] === import.meta.filename) {
  for (const [file, content] of Object.entries(await generatedFiles())) {
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    if (readIfExists(path) !== content) {
      writeFileSync(path, content);
      console.log(`wrote ${file}`);
    }
  }
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
