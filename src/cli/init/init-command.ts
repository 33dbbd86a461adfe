import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadRoleConfig } from '../../app/program.ts';
import { serveRole } from '../../app/roles.ts';
import { kbSlice } from '../../toolsets/kb/kb-slice.ts';
import type { CommandLine } from '../command-line.ts';
import { printableText } from '../terminal/printable.ts';
import { openPrompt, type Prompt } from '../terminal/prompt.ts';
import { quote, suggestion, usageError } from '../usage-error.ts';
import { type Client, type ClientFile, clients, type Launch, type Remote } from './clients.ts';
import { findClientFiles, type PlannedEdit, planEdit, snippetOf } from './edit-client.ts';
import { type ServerReport, testLaunch, testRemote } from './handshake.ts';
import { type LaunchOptions, launchOf, remoteOf, terminalVariables } from './launch-command.ts';
import { type Machine, thisMachine } from './machine.ts';
import type { Entry } from './server-entry.ts';

type Target = { launch: Launch } | { remote: Remote };

/** `carrel init [client…]`: adds this server to clients' configuration files. */
export async function initCommand(line: CommandLine): Promise<void> {
  const prompt = openPrompt();
  try {
    return await init(line, prompt);
  } finally {
    prompt?.close();
  }
}

async function init(line: CommandLine, prompt: Prompt | undefined): Promise<void> {
  const machine = thisMachine();
  const selected =
    line.args.length > 0
      ? line.args.flatMap((word) => clientsByName(word, machine))
      : await chooseClients(machine, prompt);
  if (selected.length === 0) return;
  if (line.flags['remove'] === true) return removeEntries(selected, machine);
  // Reports wrong flags and settings before anything is written.
  const config = loadRoleConfig(serveRole, line.flags);
  const isPrintOnly = line.flags['print'] === true;
  const target: Target =
    line.flags['http'] === true
      ? { remote: remoteOf(line) }
      : { launch: launchOf(line, await chooseOptions(line, isPrintOnly ? undefined : prompt)) };
  for (const client of selected) checkRemoteSupport(client, target);
  if (isPrintOnly) return printSnippets(selected, machine, target, line.flags['show-token'] === true);
  await writeAll(selected, machine, target, line);
  const allowsFolder = config.of(kbSlice).allowedRoots.length > 0;
  if ('launch' in target && !allowsFolder && !target.launch.args.includes('--allow')) printLine(rootsHint);
}

const rootsHint =
  'To let agents add files by path, allow their folders with --allow or KB_ALLOWED_ROOTS (kb.allowedRoots in config.json).';

/** Takes the tools and the allowed folder from the flags, or asks the user. */
async function chooseOptions({ flags }: CommandLine, prompt: Prompt | undefined): Promise<LaunchOptions> {
  const tools = typeof flags['tools'] === 'string' ? flags['tools'] : await askForTools(prompt);
  const folder =
    typeof flags['allow'] === 'string'
      ? flags['allow']
      : ((await prompt?.ask('Which folder may agents add files from by path? [none] ')) ?? '');
  if (folder !== '') checkFolders(folder);
  return { tools, allow: folder };
}

async function askForTools(prompt: Prompt | undefined): Promise<string> {
  const answer = (await prompt?.ask('Which tools, essential or all? [essential] ')) ?? '';
  return /^a(?:ll)?$/i.test(answer) ? 'all' : 'essential';
}

function checkFolders(folders: string): void {
  const missing = folders
    .split(',')
    .find((folder) => statSync(resolve(folder.trim()), { throwIfNoEntry: false })?.isDirectory() !== true);
  if (missing === undefined) return;
  throw usageError(`${JSON.stringify(missing)} is not a folder. Nothing was changed.`);
}

function clientsByName(word: string, machine: Machine): Client[] {
  if (word === 'all') return clients.filter((client) => findClientFiles(client, machine).isFound);
  const client = clients.find(({ id }) => id === word.toLowerCase());
  if (client !== undefined) return [client];
  const ids = clients.map(({ id }) => id);
  throw usageError(`${quote(word)} is not a supported client.${suggestion(word, ids)} Supported: ${ids.join(', ')}.`);
}

/** Lists the installed clients and, on a terminal, asks which ones to connect. Used if the command names none. */
async function chooseClients(machine: Machine, prompt: Prompt | undefined): Promise<Client[]> {
  const found = clients.filter((client) => findClientFiles(client, machine).isFound);
  if (found.length === 0) {
    printLine(
      `No client was found on this machine. carrel init <client> can still write its file. Clients: ${clients.map(({ id }) => id).join(', ')}.`,
    );
    return [];
  }
  const width = Math.max(...found.map(({ id }) => id.length));
  printLine('Found on this machine:');
  for (const client of found) {
    const paths = findClientFiles(client, machine).files.map(({ path }) => path);
    printLine(`  ${client.id.padEnd(width)}  ${client.title}, ${paths.join(', ')}`);
  }
  if (prompt === undefined) {
    printLine('Run carrel init <client> to connect one, or carrel init all to connect all of these.');
    return [];
  }
  const answer = await prompt.ask('Which clients do you want to connect? (names, all, or Enter for none) ');
  return answer
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .flatMap((word) => clientsByName(word, machine));
}

function checkRemoteSupport(client: Client, target: Target): void {
  if ('launch' in target || client.remote !== undefined) return;
  throw usageError(
    `${client.title} does not accept a URL in its file. Omit --http, or add the URL under Settings > Connectors.`,
  );
}

async function writeAll(
  selected: readonly Client[],
  machine: Machine,
  target: Target,
  line: CommandLine,
): Promise<void> {
  // Finds every problem before anything is written.
  const plans: { client: Client; isFound: boolean; edits: PlannedEdit[] }[] = [];
  for (const client of selected) {
    const { files, isFound } = findClientFiles(client, machine);
    const edits = [];
    for (const file of files) {
      const entry = entryOf(client, file, target);
      edits.push(await planEdit(client, file.path, entry, hasToken(entry, target)));
    }
    plans.push({ client, isFound, edits });
  }
  const report = 'launch' in target ? await testLaunch(target.launch) : await testRemote(target.remote);
  for (const { client, isFound, edits } of plans) {
    if (!isFound) printLine(`${client.title} was not found on this machine; its file is written anyway.`);
    for (const edit of edits) applyEdit(client, edit);
  }
  printLine(
    'launch' in target
      ? `Command: ${[target.launch.command, ...target.launch.args].join(' ')}`
      : `URL: ${target.remote.url}`,
  );
  printLine(describe(report, target));
  const variables = 'launch' in target ? terminalVariables(line) : [];
  if (variables.length > 0) {
    printLine(
      `These variables are set here, but clients won't pass them on: ${variables.join(', ')}. Put their values in config.json in the data folder.`,
    );
  }
  for (const { client } of plans) printLine(`Next, ${client.title}: ${client.next}.`);
}

async function removeEntries(selected: readonly Client[], machine: Machine): Promise<void> {
  const plans: { client: Client; edit: PlannedEdit }[] = [];
  for (const client of selected) {
    for (const { path } of findClientFiles(client, machine).files)
      plans.push({ client, edit: await planEdit(client, path, undefined) });
  }
  for (const { client, edit } of plans) applyEdit(client, edit);
}

async function printSnippets(
  selected: readonly Client[],
  machine: Machine,
  target: Target,
  showsToken: boolean,
): Promise<void> {
  const isMasked = !showsToken && 'remote' in target && target.remote.token !== undefined;
  const printedTarget: Target = isMasked ? { remote: { ...target.remote, token: '<token>' } } : target;
  for (const client of selected) {
    for (const file of findClientFiles(client, machine).files) {
      process.stderr.write(`carrel: ${client.title}, ${file.path}:\n`);
      process.stdout.write(await snippetOf(client, entryOf(client, file, printedTarget)));
    }
  }
  if (isMasked)
    process.stderr.write('carrel: <token> is a placeholder for the configured token; --show-token prints the token\n');
}

function entryOf(client: Client, file: ClientFile, target: Target): Entry {
  if ('launch' in target) return client.local(target.launch);
  return (file.remote ?? client.remote)?.(target.remote) ?? {};
}

function hasToken(entry: Entry, target: Target): boolean {
  const token = 'remote' in target ? target.remote.token : undefined;
  return token !== undefined && JSON.stringify(entry).includes(token);
}

function applyEdit(client: Client, edit: PlannedEdit): void {
  const copy = edit.apply(new Date());
  const outcomes = {
    add: 'added to',
    update: 'updated in',
    remove: 'removed from',
    none: 'nothing to change in',
  };
  printLine(`${client.title}: ${outcomes[edit.change]} ${edit.path}${copy === undefined ? '' : ` (backup: ${copy})`}`);
  if (edit.restrictsAccess) printLine(`${edit.path} now contains the token, so only you can read it (mode 600).`);
}

function describe(report: ServerReport | undefined, target: Target): string {
  if (report !== undefined)
    return `The server responded: ${report.server}, protocol ${report.revision}, ${report.tools} tools.`;
  const port = 'remote' in target ? ` --port ${new URL(target.remote.url).port || '80'}` : '';
  return `No server answers there yet. Start it with: carrel serve --transport http${port}`;
}

/** Prints a line. Control characters are replaced, because paths are untrusted text. */
function printLine(text: string): void {
  process.stdout.write(`${printableText(text).replaceAll('\n', ' ')}\n`);
}
