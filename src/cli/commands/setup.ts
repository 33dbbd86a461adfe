import {
  allowFlag,
  aloneFlag,
  jsonFlag,
  listFlag,
  readOnlyFlag,
  toggle,
  toolsetsFlag,
  toolsFlag,
  transportFlags,
  valueFlag,
} from '../flags.ts';
import { clients } from '../init/clients.ts';
import { type GroupedCommand, many } from './command.ts';
import { serverCommands } from './servers.ts';

const aboutRole = {
  args: '[role]',
  argsMax: 1,
  completes: serverCommands.map(({ name }) => name),
  details: 'The role is the name of a server command (default serve). Pass the same flags as to that command.',
};
const configFlags = [...transportFlags, readOnlyFlag, aloneFlag, toolsetsFlag, toolsFlag, allowFlag, jsonFlag];

export const setupCommands: readonly GroupedCommand[] = [
  {
    name: 'init',
    summary: 'adds the server to the configuration files of MCP clients',
    args: '[client...]',
    argsMax: many,
    completes: [...clients.map(({ id }) => id), 'all'],
    details:
      'The command tests the server before it writes a file. Without a client, it lists the clients on this machine and asks which to connect. "all" connects all of them. The command also asks for --tools and --allow if they are missing. --data-dir and --config are passed on to the server. Other content of the files is kept, and each file gets a backup.',
    examples: [
      'carrel init',
      'carrel init cursor',
      'carrel init claude-code codex --read-only',
      'carrel init zed --print',
    ],
    flags: [
      toggle('print', 'show what would be written, without writing it'),
      toggle('remove', 'remove what init wrote'),
      readOnlyFlag,
      { ...toolsFlag, summary: 'tools to list (default essential)' },
      allowFlag,
      toggle('http', 'write the URL of a running server instead of a start command'),
      valueFlag('host', 'address', 'with --http: address of the server (default 127.0.0.1)'),
      valueFlag('port', 'number', 'with --http: port of the server (default 8737)'),
      toggle('show-token', 'with --print: show the token'),
    ],
  },
  {
    name: 'doctor',
    summary: 'checks the installation and says how to fix problems',
    ...aboutRole,
    flags: [...transportFlags, toolsetsFlag, jsonFlag],
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
    args: '<add|list|revoke> [name]',
    argsMin: 1,
    argsMax: 2,
    missing: 'an action: add, list or revoke',
    completes: ['add', 'list', 'revoke'],
    details:
      'A new token is printed once. Without restrictions, it may do everything. Once a token exists, servers on this database require a token from every caller, until carrel token revoke --all removes all tokens. Running servers apply changes immediately.',
    examples: [
      'carrel token add laptop',
      'carrel token add ci --toolsets kb,find --read-only --expires 30d',
      'carrel token add reviewer --collections contracts --threads review',
      'carrel token revoke ci',
    ],
    flags: [
      valueFlag('toolsets', 'a,b,c', 'only tools, resources and prompts of these toolsets'),
      toggle('read-only', 'only tools that change nothing'),
      listFlag('collections', 'a,b,c', 'only these knowledge base collections; new documents go to the first'),
      listFlag('threads', 'a,b,c', 'only these memory threads'),
      valueFlag('expires', 'time', 'expiry, such as 2027-01-31T00:00:00Z, 12h, 30d or 8w'),
      toggle('all', 'with revoke: revoke all tokens; callers on this machine then need no token'),
      jsonFlag,
    ],
  },
  {
    name: 'bench',
    summary: 'measures startup, ingestion and search on this machine in about a minute',
    details:
      'The command ingests generated documents into a SQLite database in a temporary folder. It ignores your settings, except the variables that start with EMBEDDING_, OLLAMA_ or OPENAI_.',
    flags: [valueFlag('documents', 'number', 'number of documents (default 200)'), jsonFlag],
  },
  {
    name: 'completion',
    summary: 'prints a shell completion script',
    args: '<bash|zsh|fish>',
    argsMin: 1,
    argsMax: 1,
    missing: 'the shell: bash, zsh or fish',
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
    summary: 'lists all commands, or describes one',
    args: '[command]',
    argsMax: 1,
    flags: [],
  },
];
