import { logLevels } from '../base/log.ts';
import { choice, defineSlice, integer, list, secret, text, toggle, urlPath } from './field.ts';

/** The settings of the whole program. The settings of an area are declared next to its code. */
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
    description: 'The address to listen on. Any address other than loopback exposes the server to other machines.',
  }),
  port: integer({
    default: 8737,
    min: 0,
    max: 65_535,
    flag: 'port',
    env: ['CARREL_PORT'],
    description: 'The port to listen on. 0 picks a free port.',
  }),
  path: urlPath({ default: '/mcp', env: ['CARREL_PATH'], description: 'The path of the MCP endpoint.' }),
  authToken: secret({
    env: ['CARREL_AUTH_TOKEN'],
    refusesEmpty: true,
    description:
      'A bearer token that every HTTP request must carry. `carrel serve` requires a token to listen on an address other than loopback.',
  }),
  allowedHosts: list({
    default: [],
    env: ['CARREL_ALLOWED_HOSTS'],
    description:
      "Accepted values of the Host header, besides loopback and the server's own address. Web pages on these hosts may also call the server.",
  }),
  allowedOrigins: list({
    default: [],
    env: ['CARREL_ALLOWED_ORIGINS'],
    description: 'Origins of other web sites whose pages may call the server.',
  }),
  sessionsMax: integer({
    default: 1000,
    min: 1,
    max: 100_000,
    env: ['CARREL_SESSIONS_MAX'],
    description: 'Max open sessions. A new session beyond this limit closes the least recently used one.',
  }),
  sessionsPerCallerMax: integer({
    default: 500,
    min: 1,
    max: 100_000,
    env: ['CARREL_SESSIONS_PER_CALLER_MAX'],
    description: 'Max sessions per token. Without tokens, the limit is per address (for IPv6, per /64 network).',
  }),
  connectionsMax: integer({
    default: 2000,
    min: 10,
    max: 100_000,
    env: ['CARREL_CONNECTIONS_MAX'],
    description: 'Max open connections. A new connection beyond this limit closes the one that was idle longest.',
  }),
  connectionsPerAddressMax: integer({
    default: 500,
    min: 1,
    max: 100_000,
    env: ['CARREL_CONNECTIONS_PER_ADDRESS_MAX'],
    description:
      "Max connections per address (for IPv6, per /64 network). Clients on this machine are exempt. Behind a proxy, all clients have the proxy's address.",
  }),
  unsentBytesMax: integer({
    default: 32 * 1024 * 1024,
    min: 1024 * 1024,
    max: 4 * 1024 * 1024 * 1024,
    env: ['CARREL_UNSENT_BYTES_MAX'],
    description:
      'Max total bytes of answers that clients have not read yet. Beyond this limit, the clients that have not read for longest are disconnected.',
  }),
  sessionIdleMinutes: integer({
    default: 30,
    min: 1,
    max: 10_080,
    env: ['CARREL_SESSION_IDLE_MINUTES'],
    description: 'Minutes after which an unused session is closed.',
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
    description: 'The toolsets that `carrel serve` offers. If empty, it offers all that are configured.',
  }),
  offered: choice(['all', 'essential'], {
    default: 'all',
    flag: 'tools',
    env: ['CARREL_TOOLS'],
    description:
      'Which tools `carrel serve` lists. The essential tools cost a third of the tokens of all tools. Tools that are not listed can still be called.',
  }),
  readOnly: toggle({
    default: false,
    flag: 'read-only',
    env: ['CARREL_READ_ONLY'],
    description: 'Offer only tools that change nothing.',
  }),
  disabledTools: list({ default: [], env: ['DISABLED_TOOLS'], description: 'Names of tools that are not offered.' }),
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
    description: 'Max calls that wait for running calls to finish. Further calls are refused.',
  }),
  answerBytesMax: integer({
    default: 4 * 1024 * 1024,
    min: 64 * 1024,
    max: 64 * 1024 * 1024,
    env: ['ANSWER_MAX_BYTES'],
    description: 'Max bytes of an answer. A longer answer is shortened and says how to get the rest.',
  }),
  resourceLinks: toggle({
    default: false,
    env: ['CARREL_RESOURCE_LINKS'],
    description:
      'Add a resource link for each search result, for clients that show links to their users. This costs tokens if the client passes the links to the model.',
  }),
});

export const sharingSlice = defineSlice('sharing', 'One process for several clients', {
  alone: toggle({
    default: false,
    flag: 'alone',
    env: ['CARREL_ALONE'],
    description: "Don't share a process with other stdio clients.",
  }),
  idleSeconds: integer({
    default: 0,
    min: 0,
    max: 86_400,
    env: ['CARREL_IDLE_SECONDS'],
    description:
      'Seconds that the shared process keeps running after its last stdio client has disconnected. A process started by a command uses 300 by default.',
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
    description:
      'The lowest level that is written to the log file. `--debug` sets it to debug and also logs to stderr.',
  }),
  fileBytesMax: integer({
    default: 10 * 1024 * 1024,
    min: 64 * 1024,
    max: 1024 * 1024 * 1024,
    env: ['CARREL_LOG_BYTES_MAX'],
    description: 'Max size of the log file, in bytes. It is rotated before it exceeds this.',
  }),
  filesMax: integer({
    default: 3,
    min: 1,
    max: 100,
    env: ['CARREL_LOG_FILES_MAX'],
    description: 'How many rotated log files to keep.',
  }),
});
