import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CarrelError } from '../../base/errors.ts';
import { isObject, parseJson } from '../../base/json.ts';
import { version } from '../../base/package-info.ts';
import { createServiceClient, ServiceFailure } from '../../http/service-client.ts';
import type { Launch, Remote } from './clients.ts';

/** A server's answers to the handshake. */
export interface ServerReport {
  readonly server: string;
  readonly revision: string;
  readonly tools: number;
  /** Time until the tool list arrived. */
  readonly answeredMs: number;
}

const protocolVersion = '2025-11-25';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'carrel-init', version } },
};
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
const listTools = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

type Message = typeof initialize | typeof initialized | typeof listTools;

/** Performs the MCP handshake over any transport, then lists the tools. */
async function performHandshake(
  send: (message: Message) => Promise<unknown>,
  startedAt: number,
): Promise<ServerReport> {
  const answer = await send(initialize);
  await send(initialized);
  const tools = await send(listTools);
  const info = isObject(answer) && isObject(answer['serverInfo']) ? answer['serverInfo'] : {};
  const list = isObject(tools) ? tools['tools'] : undefined;
  if (!Array.isArray(list) || typeof info['name'] !== 'string') {
    throw new CarrelError('unavailable', 'The server that answered does not speak MCP. Nothing was changed.');
  }
  const revision = isObject(answer) ? String(answer['protocolVersion']) : '';
  return {
    server: `${info['name']} ${String(info['version'] ?? '')}`.trim(),
    revision,
    tools: list.length,
    answeredMs: performance.now() - startedAt,
  };
}

const timeoutMs = 60_000;
const exitTimeoutMs = 5_000;
const stderrCharsMax = 2_000;

/** Starts the command with the minimal environment of a desktop client, then stops it. */
export async function testLaunch({ command, args }: Launch): Promise<ServerReport> {
  const startedAt = performance.now();
  const child = spawn(command, args, { env: minimalEnvironment(process.platform, process.env), stdio: 'pipe' });
  let stderrTail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-stderrCharsMax);
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<never>((_, reject) => {
    const fail = (): void => reject(startFailure([command, ...args].join(' '), stderrTail));
    child.once('error', fail);
    child.once('close', fail);
  });
  ended.catch(() => {});
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = async (message: Message): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    while ('id' in message) {
      const { value, done } = await Promise.race([lines.next(), ended]);
      if (done) return ended;
      const answer = parseJson(value);
      if (isObject(answer) && answer['id'] === message.id) return answer['result'];
    }
    return undefined;
  };
  try {
    return await performHandshake(send, startedAt);
  } finally {
    clearTimeout(timer);
    const closed = new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) resolve();
      else child.once('close', () => resolve());
    });
    child.stdin.end();
    const killer = setTimeout(() => child.kill('SIGKILL'), exitTimeoutMs);
    await closed;
    clearTimeout(killer);
  }
}

/** Returns the environment of a desktop program, without anything that a shell sets. */
export function minimalEnvironment(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const windows = [
    'SystemRoot',
    'SystemDrive',
    'USERPROFILE',
    'HOMEDRIVE',
    'HOMEPATH',
    'APPDATA',
    'LOCALAPPDATA',
    'TEMP',
    'TMP',
    'PATHEXT',
  ];
  const inherited = platform === 'win32' ? windows : ['HOME', 'USER', 'LOGNAME', 'LANG', 'TMPDIR'];
  const inheritedVariables = inherited.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const path =
    platform === 'win32' ? `${env['SystemRoot'] ?? 'C:\\Windows'}\\System32` : '/usr/bin:/bin:/usr/sbin:/sbin';
  return { ...Object.fromEntries(inheritedVariables), PATH: path };
}

function startFailure(command: string, stderrTail: string): CarrelError {
  // Quoting stderr is safe, because the process is Carrel itself.
  const lastLine = stderrTail.trim().split('\n').at(-1) ?? '';
  return new CarrelError(
    'unavailable',
    `The server does not start with ${command}: ${lastLine || 'it exited without output'}. Nothing was changed.`,
  );
}

/** Performs the handshake with a running server; undefined if none answers. */
export async function testRemote({ url, token }: Remote): Promise<ServerReport | undefined> {
  const startedAt = performance.now();
  const { origin, pathname: path } = new URL(url);
  const client = createServiceClient({
    baseUrl: origin,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    timeoutMs: 10_000,
    answerBytesMax: 4 * 1024 * 1024,
  });
  try {
    let headers: Record<string, string> = {};
    const report = await performHandshake(async (message) => {
      const body = Buffer.from(JSON.stringify(message));
      const answer = await client.request({ method: 'POST', path, headers, body });
      if (answer.status === 401 || answer.status === 403) throw tokenRejected(url);
      if (message === initialize) {
        const session = answer.headers['mcp-session-id'];
        headers = {
          'mcp-protocol-version': protocolVersion,
          ...(typeof session === 'string' ? { 'mcp-session-id': session } : {}),
        };
      }
      return resultOf(answer.body.toString('utf8'));
    }, startedAt);
    await client.request({ method: 'DELETE', path, headers }).catch(() => {});
    return report;
  } catch (error) {
    if (error instanceof ServiceFailure) return undefined;
    throw error;
  } finally {
    client.close();
  }
}

/** Returns the result in a body, which is either one JSON message or an event stream. */
function resultOf(body: string): unknown {
  for (const line of body.startsWith('{') ? [body] : body.split(/\r?\n/)) {
    const text = line.startsWith('data:') ? line.slice('data:'.length) : line;
    if (!text.trimStart().startsWith('{')) continue;
    const message = parseJson(text);
    if (isObject(message) && 'result' in message) return message['result'];
  }
  return undefined;
}

function tokenRejected(url: string): CarrelError {
  return new CarrelError(
    'unavailable',
    `The server at ${url} rejects the configured token (CARREL_AUTH_TOKEN or http.authToken). Nothing was changed.`,
  );
}
