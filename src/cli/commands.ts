import { roles } from '../app/roles.ts';
import {
  adding,
  collectionFlag,
  everywhere,
  type FlagDescription,
  forceFlag,
  jsonFlag,
  limitFlag,
  offsetFlag,
  openFlag,
  serving,
  tagFlag,
  toolsetsFlag,
  valued,
} from './flags.ts';

/** One command, from which parsing, help, completion, "did you mean" and docs/command-line.md are made. */
export interface CommandDescription {
  readonly name: string;
  readonly group: CommandGroup;
  readonly summary: string;
  /** What follows the name, as help shows it: `<query...>`, `[role]`. */
  readonly words?: string;
  /** Without a bound on either side: none. */
  readonly wordsMin?: number;
  readonly wordsMax?: number;
  /** What is missing when there are fewer. */
  readonly needs?: string;
  /** What a shell completes a word with. */
  readonly completes?: readonly string[] | 'files';
  /** Sentences for those who ask for more. */
  readonly more?: string;
  readonly examples?: readonly string[];
  readonly flags: readonly FlagDescription[];
}

export const groups = {
  servers: 'Servers (without a command: serve)',
  setup: 'Set up and maintain',
  knowledge: 'Search and store',
  data: 'Move data',
} as const;

export type CommandGroup = keyof typeof groups;

const many = Number.POSITIVE_INFINITY;
const roleNames = Object.keys(roles);
const aboutRole = { words: '[role]', wordsMax: 1, completes: roleNames };
const forPeople = [...serving, toolsetsFlag, jsonFlag];
const looking = [jsonFlag, limitFlag];
const query = { words: '<query...>', wordsMin: 1, wordsMax: many, needs: 'what to look for' };

const servers = Object.values(roles).map(
  ({ name, summary }): CommandDescription => ({
    name,
    group: 'servers',
    summary,
    flags: name === 'serve' ? [...serving, toolsetsFlag] : serving,
  }),
);

const setup: readonly Omit<CommandDescription, 'group'>[] = [
  {
    name: 'doctor',
    summary: 'checks this machine and says how to fix what is wrong',
    ...aboutRole,
    flags: forPeople,
  },
  { name: 'config', summary: 'shows the effective settings and where each came from', ...aboutRole, flags: forPeople },
  { name: 'tools', summary: 'lists the tools and their cost in tokens', ...aboutRole, flags: forPeople },
  {
    name: 'completion',
    summary: 'prints the completion script of a shell',
    words: '<bash|zsh|fish>',
    wordsMin: 1,
    wordsMax: 1,
    needs: 'the shell: bash, zsh or fish',
    completes: ['bash', 'zsh', 'fish'],
    examples: [
      'source <(carrel completion bash)',
      'carrel completion zsh > "$fpath[1]/_carrel"',
      'carrel completion fish > ~/.config/fish/completions/carrel.fish',
    ],
    flags: [],
  },
  {
    name: 'help',
    summary: 'shows all commands, or one in detail',
    words: '[command]',
    wordsMax: 1,
    flags: [],
  },
];

const knowledge: readonly Omit<CommandDescription, 'group'>[] = [
  {
    name: 'search',
    summary: 'searches the knowledge base (kb_search)',
    ...query,
    examples: ['carrel search harbour dues --collection contracts', 'carrel search "parental leave" --open'],
    flags: [collectionFlag, tagFlag, openFlag, ...looking],
  },
  {
    name: 'find',
    summary: 'searches every source at once (find)',
    ...query,
    more: 'The web is searched only with --source web.',
    examples: ['carrel find who signed the lease', 'carrel find sqlite wal --source notes --source web'],
    flags: [
      { name: 'source', type: 'list', value: 'name', summary: 'only this one; may be given several times' },
      ...looking,
    ],
  },
  {
    name: 'get',
    summary: 'prints what a URI names: a document, a note, a memory',
    words: '<uri>',
    wordsMin: 1,
    wordsMax: 1,
    needs: 'the URI from a search or a list',
    more: 'A number alone is a document of the knowledge base. If the output is not a terminal, the text is printed as it is; --json wraps it.',
    examples: ['carrel get carrel://kb/doc/12', 'carrel get 12 > report.txt', 'carrel get 12 --open'],
    flags: [jsonFlag, openFlag],
  },
  {
    name: 'list',
    summary: 'lists the documents of the knowledge base',
    flags: [
      collectionFlag,
      tagFlag,
      valued('type', 'type', 'only of this type, such as pdf, markdown, note'),
      ...looking,
      offsetFlag,
    ],
  },
  {
    name: 'jobs',
    summary: 'lists ingestion jobs and their outcome (kb_jobs)',
    words: '[id]',
    wordsMax: 1,
    flags: [
      valued('status', 'status', 'only jobs with this status', {
        choices: ['queued', 'processing', 'done', 'failed', 'cancelled', 'skipped'],
      }),
      ...looking,
      offsetFlag,
    ],
  },
  {
    name: 'notes',
    summary: 'lists the notes, or searches them (list_notes)',
    words: '[query...]',
    wordsMax: many,
    flags: [tagFlag, ...looking, offsetFlag],
  },
  {
    name: 'threads',
    summary: "lists the threads of an agent's memory, or what is in one (list_threads, search_context)",
    words: '[thread]',
    wordsMax: 1,
    flags: [...looking, offsetFlag],
  },
  {
    name: 'remember',
    summary: 'stores a text in the memory (store_context)',
    words: '<text...>',
    wordsMin: 1,
    wordsMax: many,
    needs: 'the text to store, or - to read it from standard input',
    examples: ['carrel remember the gate code changes in May', 'git log -5 | carrel remember - --thread carrel'],
    flags: [valued('thread', 'name', 'the thread to store it in (default memory)'), tagFlag, jsonFlag],
  },
];

const data: readonly Omit<CommandDescription, 'group'>[] = [
  {
    name: 'add',
    summary: "adds files and folders to the knowledge base; --watch follows a folder's changes",
    words: '<paths...>',
    wordsMin: 1,
    wordsMax: many,
    needs: 'the files or folders to add',
    completes: 'files',
    examples: ['carrel add ~/Documents --collection private --exclude "*.tmp"', 'carrel add notes --watch'],
    flags: [...adding, jsonFlag],
  },
  {
    name: 'backup',
    summary: 'writes all data to one file, while servers keep running',
    words: '<file>',
    wordsMin: 1,
    wordsMax: 1,
    needs: 'the backup file',
    completes: 'files',
    flags: [forceFlag, jsonFlag],
  },
  {
    name: 'restore',
    summary: 'replaces all data with a backup; needs --force if there is any',
    words: '<file>',
    wordsMin: 1,
    wordsMax: 1,
    needs: 'the backup file',
    completes: 'files',
    flags: [forceFlag, jsonFlag],
  },
  {
    name: 'export',
    summary: 'writes the context entries as JSONL',
    words: '[file]',
    wordsMax: 1,
    completes: 'files',
    flags: [],
  },
  {
    name: 'import',
    summary: 'adds entries: an export, a mcp-context-server database, memory.jsonl, conversations.json',
    words: '<file>',
    wordsMin: 1,
    wordsMax: 1,
    needs: 'the file to read',
    completes: 'files',
    flags: [],
  },
];

const inGroup =
  (group: CommandGroup) =>
  (each: Omit<CommandDescription, 'group'>): CommandDescription => ({ ...each, group });

/** In the order in which help shows them. Each also takes the flags that are the same everywhere. */
export const commands: readonly CommandDescription[] = [
  ...servers,
  ...setup.map(inGroup('setup')),
  ...knowledge.map(inGroup('knowledge')),
  ...data.map(inGroup('data')),
].map((command) => ({ ...command, flags: [...command.flags, ...everywhere] }));

export function findCommand(name: string): CommandDescription | undefined {
  return commands.find((command) => command.name === name);
}
