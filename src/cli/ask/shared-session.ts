import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { ToolSession } from '../../app/tool-session.ts';
import { CarrelError, type ErrorCode } from '../../base/errors.ts';
import { isObject, parseJson } from '../../base/json.ts';
import { version } from '../../base/package-info.ts';
import type { Config } from '../../config/load.ts';
import type { ResourceContents } from '../../tools/resource.ts';

type Fields = Record<string, unknown>;

/** How long the shared process outlives a command, so that the next one finds its models loaded. */
const idleSeconds = '300';

/**
 * Connects to the process that stdio clients share, or starts one. Undefined if sharing is impossible here; the
 * caller then opens the tools itself.
 */
export async function openSharedSession(config: Config, flags: readonly string[]): Promise<ToolSession | undefined> {
  const [, program = ''] = process.argv;
  const child = spawn(process.execPath, [program, 'serve', '--transport', 'stdio', ...flags], {
    env: { CARREL_IDLE_SECONDS: idleSeconds, ...process.env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => {});
  const waiting = new Map<number, (answer: Fields | undefined) => void>();
  const giveUp = (): void => {
    for (const resolve of waiting.values()) resolve(undefined);
    waiting.clear();
  };
  child.once('error', giveUp);
  child.once('close', giveUp);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = parseJson(line);
    if (!isObject(answer)) return;
    const id = Number(answer['id']);
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  let count = 0;
  const request = (method: string, params: Fields): Promise<Fields | undefined> => {
    count += 1;
    const id = count;
    return new Promise((resolve) => {
      if (child.exitCode !== null) resolve(undefined);
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  };
  const clientInfo = { name: 'carrel', version };
  const hello = await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  if (!isObject(hello?.['result'])) return undefined;
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);

  const resultOf = (answer: Fields | undefined): Fields => {
    if (answer === undefined) throw new CarrelError('unavailable', 'The shared process exited. Run the command again.');
    const { result, error } = answer;
    if (isObject(result) && result['isError'] !== true) return result;
    const { structuredContent } = isObject(result) ? result : {};
    const fault = isObject(structuredContent) ? structuredContent['error'] : error;
    const { code, message, data } = isObject(fault) ? fault : {};
    const own = isObject(data) ? data['code'] : code;
    throw new CarrelError((typeof own === 'string' ? own : 'unavailable') as ErrorCode, String(message ?? ''));
  };
  return {
    config,
    async call(name, args) {
      const { structuredContent } = resultOf(await request('tools/call', { name, arguments: args }));
      return isObject(structuredContent) ? structuredContent : {};
    },
    async read(uri, cursor) {
      const params = { uri, ...(cursor === undefined ? {} : { cursor }) };
      return resultOf(await request('resources/read', params)) as unknown as ResourceContents;
    },
    async close() {
      const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
      child.stdin.end();
      if (child.exitCode === null) await closed;
    },
  };
}
