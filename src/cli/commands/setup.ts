import { roles } from '../../app/roles.ts';
import {
  allowFlag,
  type FlagDescription,
  jsonFlag,
  listed,
  readOnlyFlag,
  serving,
  toggle,
  toolsetsFlag,
  toolsFlag,
  valued,
} from '../flags.ts';
import { clients } from '../init/clients.ts';
import { type GroupedCommand, many } from './command.ts';

const aboutRole = { words: '[role]', wordsMax: 1, completes: Object.keys(roles) };
const forPeople: readonly FlagDescription[] = [...serving, toolsetsFlag, toolsFlag, allowFlag, jsonFlag];

export const setupCommands: readonly GroupedCommand[] = [
  {
    name: 'init',
    summary: 'connects MCP clients: writes their configuration files, after trying the server',
    words: '[client...]',
    wordsMax: many,
    completes: [...clients.map(({ id }) => id), 'all'],
    more: 'Without a client, it lists those on this machine and asks, if run on a terminal. There it also asks for --tools and --allow, unless they are given. "all" means all of these. --data-dir and --config are passed on to the server. Files keep everything else in them and get a backup.',
    examples: [
      'carrel init',
      'carrel init cursor',
      'carrel init claude-code codex --read-only',
      'carrel init zed --print',
    ],
    flags: [
      toggle('print', 'only show what would be written'),
      toggle('remove', 'remove what init wrote, and nothing else'),
      readOnlyFlag,
      { ...toolsFlag, summary: 'which tools the server lists (default essential)' },
      allowFlag,
      toggle('http', 'write the URL of a running server instead of the command to start one'),
      ...serving.filter(({ name }) => name === 'host' || name === 'port'),
      toggle('show-token', 'with --print: show the token too'),
    ],
  },
  {
    name: 'doctor',
    summary: 'checks this machine and says how to fix what is wrong',
    ...aboutRole,
    flags: forPeople,
  },
  { name: 'config', summary: 'shows the effective settings and where each came from', ...aboutRole, flags: forPeople },
  { name: 'tools', summary: 'lists the tools and their cost in tokens', ...aboutRole, flags: forPeople },
  {
    name: 'token',
    summary: 'adds, lists and revokes tokens for callers over HTTP, each with its own rights',
    words: '<add|list|revoke> [name]',
    wordsMin: 1,
    wordsMax: 2,
    needs: 'what to do: add, list or revoke',
    completes: ['add', 'list', 'revoke'],
    more: 'add prints the token, once. Rights that are not restricted are unlimited. As soon as there is a token, servers on this database ask everybody for one; revoke --all goes back. Running servers notice at once.',
    examples: [
      'carrel token add laptop',
      'carrel token add ci --toolsets kb,find --read-only --expires 30d',
      'carrel token add reviewer --collections contracts --threads review',
      'carrel token revoke ci',
    ],
    flags: [
      valued('toolsets', 'a,b,c', 'only tools, resources and prompts of these'),
      toggle('read-only', 'only tools that change nothing'),
      listed('collections', 'a,b,c', 'only these collections of the knowledge base; new documents go to the first'),
      listed('threads', 'a,b,c', 'only these threads of the context store'),
      valued('expires', 'time', 'when it ends: 2027-01-31T00:00:00Z, 12h, 30d, 8w'),
      toggle('all', 'with revoke: all tokens; on loopback, none is asked for any more'),
      jsonFlag,
    ],
  },
  {
    name: 'bench',
    summary: 'measures start, ingestion and search on this machine, in about a minute',
    more: 'It ingests generated documents into a temporary folder with SQLite. Of your settings only those of the embedding model count.',
    flags: [valued('documents', 'number', 'how many documents (default 200)'), jsonFlag],
  },
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
