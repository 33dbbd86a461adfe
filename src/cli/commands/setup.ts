import {
  allowFlag,
  aloneFlag,
  jsonFlag,
  listed,
  listening,
  readOnlyFlag,
  toggle,
  toolsetsFlag,
  toolsFlag,
  valued,
} from '../flags.ts';
import { clients } from '../init/clients.ts';
import { type GroupedCommand, many } from './command.ts';
import { serverCommands } from './servers.ts';

const aboutRole = { words: '[role]', wordsMax: 1, completes: serverCommands.map(({ name }) => name) };
const configFlags = [...listening, readOnlyFlag, aloneFlag, toolsetsFlag, toolsFlag, allowFlag, jsonFlag];

export const setupCommands: readonly GroupedCommand[] = [
  {
    name: 'init',
    summary: 'connects MCP clients: tests the server, then writes their configuration files',
    words: '[client...]',
    wordsMax: many,
    completes: [...clients.map(({ id }) => id), 'all'],
    more: 'Without a client, lists the clients on this machine and, on a terminal, asks which to connect. It also asks for --tools and --allow unless given. "all" connects all of them. --data-dir and --config are passed on to the server. Files keep all other content and get a backup.',
    examples: [
      'carrel init',
      'carrel init cursor',
      'carrel init claude-code codex --read-only',
      'carrel init zed --print',
    ],
    flags: [
      toggle('print', 'show what would be written, and write nothing'),
      toggle('remove', 'remove only what init wrote'),
      readOnlyFlag,
      { ...toolsFlag, summary: 'which tools the server lists (default essential)' },
      allowFlag,
      toggle('http', 'write the URL of a running server instead of a start command'),
      ...listening.filter(({ name }) => name !== 'transport'),
      toggle('show-token', 'with --print: show the token'),
    ],
  },
  {
    name: 'doctor',
    summary: 'checks this machine and tells you how to fix problems',
    ...aboutRole,
    flags: [...listening, toolsetsFlag, jsonFlag],
  },
  {
    name: 'config',
    summary: 'shows the effective settings and where each comes from',
    ...aboutRole,
    flags: configFlags,
  },
  {
    name: 'tools',
    summary: 'lists the tools and their cost in tokens',
    ...aboutRole,
    flags: [readOnlyFlag, toolsetsFlag, toolsFlag, jsonFlag],
  },
  {
    name: 'token',
    summary: 'manages tokens for HTTP callers, each with its own rights',
    words: '<add|list|revoke> [name]',
    wordsMin: 1,
    wordsMax: 2,
    needs: 'what to do: add, list or revoke',
    completes: ['add', 'list', 'revoke'],
    more: 'add prints the token once. A token without restrictions may do everything. Once a token exists, servers on this database require one from every caller, until revoke --all removes them. Running servers apply changes immediately.',
    examples: [
      'carrel token add laptop',
      'carrel token add ci --toolsets kb,find --read-only --expires 30d',
      'carrel token add reviewer --collections contracts --threads review',
      'carrel token revoke ci',
    ],
    flags: [
      valued('toolsets', 'a,b,c', "only these toolsets' tools, resources and prompts"),
      toggle('read-only', 'only tools that change nothing'),
      listed('collections', 'a,b,c', 'only these collections in the knowledge base; new documents go to the first'),
      listed('threads', 'a,b,c', 'only these memory threads'),
      valued('expires', 'time', 'expiry: 2027-01-31T00:00:00Z, 12h, 30d, 8w'),
      toggle('all', 'with revoke: all tokens; loopback then needs no token'),
      jsonFlag,
    ],
  },
  {
    name: 'bench',
    summary: 'measures startup, ingestion and search on this machine in about a minute',
    more: 'Ingests generated documents into a temporary folder with SQLite. Of your settings, only those of the embedding model are used.',
    flags: [valued('documents', 'number', 'number of documents (default 200)'), jsonFlag],
  },
  {
    name: 'completion',
    summary: 'prints a shell completion script',
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
    summary: 'lists all commands, or explains one',
    words: '[command]',
    wordsMax: 1,
    flags: [],
  },
];
