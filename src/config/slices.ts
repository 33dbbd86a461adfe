import { logLevels } from '../base/log.ts';
import { choice, defineSlice, integer, list, secret, text, toggle, urlPath } from './field.ts';

/** This file has the settings of the whole program. Each area declares its own settings next to its code. */
export const httpSlice = defineSlice('http', 'Transport', {
  transport: choice(['stdio', 'http'], {
    default: 'stdio',
    flag: 'transport',
    env: ['CARREL_TRANSPORT'],
    // The name that mcp-context-server uses.
    aliases: { 'streamable-http': 'http' },
    description: 'How clients connect: over stdin and stdout, or over HTTP.',
  }),
  host: text({
    default: '127.0.0.1',
    flag: 'host',
    env: ['CARREL_HOST'],
    description: 'The address to listen on. Anything but loopback exposes the server to others.',
  }),
  port: integer({
    default: 8737,
    min: 0,
    max: 65_535,
    flag: 'port',
    env: ['CARREL_PORT'],
    description: 'The port to listen on; 0 picks a free one.',
  }),
  path: urlPath({ default: '/mcp', env: ['CARREL_PATH'], description: 'The path of the MCP endpoint.' }),
  authToken: secret({
    env: ['CARREL_AUTH_TOKEN'],
    refusesEmpty: true,
    description: 'A bearer token that every HTTP request must carry. Needed when listening beyond loopback.',
  }),
  allowedHosts: list({
    default: [],
    env: ['CARREL_ALLOWED_HOSTS'],
    description:
      "Host names that requests may use, besides loopback and the server's own address. Pages from these hosts may call it too.",
  }),
  allowedOrigins: list({
    default: [],
    env: ['CARREL_ALLOWED_ORIGINS'],
    description: 'Origins of other sites whose pages may call the server.',
  }),
  sessionsMax: integer({
    default: 1000,
    min: 1,
    max: 100_000,
    env: ['CARREL_SESSIONS_MAX'],
    description: 'Max open sessions; beyond it, the least recently used one is closed.',
  }),
  sessionsPerCallerMax: integer({
    default: 500,
    min: 1,
    max: 100_000,
    env: ['CARREL_SESSIONS_PER_CALLER_MAX'],
    description: 'Max sessions per token or, without tokens, per address (for IPv6, per /64 network).',
  }),
  connectionsMax: integer({
    default: 2000,
    min: 10,
    max: 100_000,
    env: ['CARREL_CONNECTIONS_MAX'],
    description: 'Max open connections; beyond it, the longest idle one is closed.',
  }),
  connectionsPerAddressMax: integer({
    default: 500,
    min: 1,
    max: 100_000,
    env: ['CARREL_CONNECTIONS_PER_ADDRESS_MAX'],
    description:
      'Max connections per address (for IPv6, per /64 network). Clients on this machine may use all connections. Behind a proxy, all clients share its address.',
  }),
  unsentBytesMax: integer({
    default: 32 * 1024 * 1024,
    min: 1024 * 1024,
    max: 4 * 1024 * 1024 * 1024,
    env: ['CARREL_UNSENT_BYTES_MAX'],
    description:
      'Max bytes of unread answers in total. Above it, the clients that have not read for longest are disconnected.',
  }),
  sessionIdleMinutes: integer({
    default: 30,
    min: 1,
    max: 10_080,
    env: ['CARREL_SESSION_IDLE_MINUTES'],
    description: 'An unused session is closed after this time.',
  }),
  messageBytesMax: integer({
    default: 4 * 1024 * 1024,
    min: 1024,
    max: 256 * 1024 * 1024,
    env: ['CARREL_MESSAGE_BYTES_MAX'],
    description: 'Max size of an incoming message, in bytes.',
  }),
});

export const toolsSlice = defineSlice('tools', 'Tools', {
  toolsets: list({
    default: [],
    flag: 'toolsets',
    env: ['CARREL_TOOLSETS'],
    description: 'The toolsets that `carrel serve` offers; empty means all that are configured.',
  }),
  offered: choice(['all', 'essential'], {
    default: 'all',
    flag: 'tools',
    env: ['CARREL_TOOLS'],
    description:
      'Which tools `carrel serve` lists: all, or only the essential ones, which take a third of the tokens. The others stay callable by name.',
  }),
  readOnly: toggle({
    default: false,
    flag: 'read-only',
    env: ['CARREL_READ_ONLY'],
    description: 'Offer only tools that change nothing.',
  }),
  disabledTools: list({ default: [], env: ['DISABLED_TOOLS'], description: 'Tools to leave out, by name.' }),
  inFlightMax: integer({
    default: 64,
    min: 1,
    max: 10_000,
    env: ['CARREL_IN_FLIGHT_MAX'],
    description: 'Max calls that run at the same time.',
  }),
  waitingMax: integer({
    default: 256,
    min: 0,
    max: 100_000,
    env: ['CARREL_WAITING_MAX'],
    description: 'Max calls that wait for a free slot; more are refused.',
  }),
  answerBytesMax: integer({
    default: 4 * 1024 * 1024,
    min: 64 * 1024,
    max: 64 * 1024 * 1024,
    env: ['ANSWER_MAX_BYTES'],
    description: 'Max bytes of an answer. What does not fit is left out, and the answer says how to get it.',
  }),
  resourceLinks: toggle({
    default: false,
    env: ['CARREL_RESOURCE_LINKS'],
    description:
      'Add a link for each resource that a search finds, for clients that show them to their users. Costs tokens if the client passes them to the model.',
  }),
});

export const sharingSlice = defineSlice('sharing', 'One process for several clients', {
  alone: toggle({
    default: false,
    flag: 'alone',
    env: ['CARREL_ALONE'],
    description: "On stdio: don't share a process with other clients.",
  }),
  idleSeconds: integer({
    default: 0,
    min: 0,
    max: 86_400,
    env: ['CARREL_IDLE_SECONDS'],
    description:
      'On stdio: how long the shared process keeps running after its last client leaves. 0: it exits with that client.',
  }),
});

/** The level names of mcp-context-server, so that its configuration files keep working. */
const pythonLevels = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  warning: 'warn',
  ERROR: 'error',
  CRITICAL: 'error',
} as const;

export const logSlice = defineSlice('log', 'Logging', {
  level: choice(logLevels, {
    default: 'info',
    env: ['LOG_LEVEL'],
    aliases: pythonLevels,
    description: 'The lowest level written to the log file. `--debug` means debug, also on stderr.',
  }),
  fileBytesMax: integer({
    default: 10 * 1024 * 1024,
    min: 64 * 1024,
    max: 1024 * 1024 * 1024,
    env: ['CARREL_LOG_BYTES_MAX'],
    description: 'The log file is rotated before it exceeds this, in bytes.',
  }),
  filesMax: integer({
    default: 3,
    min: 1,
    max: 100,
    env: ['CARREL_LOG_FILES_MAX'],
    description: 'How many rotated log files to keep.',
  }),
});
