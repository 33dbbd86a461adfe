import { randomUUID } from 'node:crypto';
import { CarrelError, type ErrorCode } from '../../base/errors.ts';
import { isObject, parseJson } from '../../base/json.ts';
import { version } from '../../base/package-info.ts';
import { createOwnerFinder, ownerLocation } from '../../sharing/find-owner.ts';
import { encodeFrame, frameKinds } from '../../sharing/frames.ts';
import { announcedOwners, isPrivateFolder, ownerFiles } from '../../sharing/owner-files.ts';
import { commandKey, processKey, readSharingFacts } from '../../sharing/process-key.ts';
import { type Link, reachOwner } from '../../sharing/reach-owner.ts';
import type { ResourceContents } from '../../tools/resource.ts';
import type { CommandLine } from '../command-line.ts';
import type { OpenedTools } from './with-tools.ts';

type Fields = Record<string, unknown>;

/** How long the shared process stays after a command, with its models loaded for the next one. */
const idleSeconds = '300';

/** Commands that need a model. They start a shared process if none is running. */
const modelCommands: ReadonlySet<string> = new Set(['search', 'find', 'get', 'remember']);

/** Opens the tools of a running process with the same data and settings. Undefined if there is none. */
export async function openSharedTools(line: CommandLine): Promise<OpenedTools | undefined> {
  const link = await findLink(line);
  return link && openLink(link);
}

async function findLink({ command, flags }: CommandLine): Promise<Link | undefined> {
  const { env } = process;
  const location = ownerLocation(flags);
  if (location === undefined) return undefined;
  const { folder, paths } = location;
  const isPrivate = isPrivateFolder(folder);
  if (isPrivate === false) return undefined;
  const facts = readSharingFacts();
  const key = commandKey(facts, paths, env);
  const client = randomUUID();
  for (const { announcement } of isPrivate ? announcedOwners(folder) : []) {
    if (announcement.commandKey !== key) continue;
    const reached = await reachOwner(announcement, client);
    if (typeof reached === 'object') return reached;
  }
  if (!modelCommands.has(command)) return undefined;

  env['CARREL_IDLE_SECONDS'] ??= idleSeconds;
  const args = ['--transport', 'stdio', ...flagWords(flags, 'data-dir'), ...flagWords(flags, 'config')];
  const files = ownerFiles(folder, processKey({ facts, command: 'serve', args, paths, env }));
  // If the shared process does not start, this process opens the tools itself and reports what is wrong.
  const owner = await createOwnerFinder(files, ['serve', ...args], client, () => {}).find();
  return owner.kind === 'link' ? owner.link : undefined;
}

function flagWords(flags: CommandLine['flags'], name: string): string[] {
  const value = flags[name];
  return typeof value === 'string' ? [`--${name}`, value] : [];
}

/** Speaks MCP with the process, like any client on stdio. */
async function openLink({ socket, welcome, listen }: Link): Promise<OpenedTools> {
  const pending = new Map<number, (answer: Fields | undefined) => void>();
  let linesSent = 0;
  let isClosed = false;
  const send = (message: Fields): void => {
    linesSent += 1;
    socket.write(encodeFrame(frameKinds.line, linesSent, JSON.stringify({ jsonrpc: '2.0', ...message })));
  };
  const request = (method: string, params: Fields): Promise<Fields | undefined> =>
    new Promise((resolve) => {
      if (isClosed) {
        resolve(undefined);
        return;
      }
      const id = linesSent + 1;
      pending.set(id, resolve);
      send({ id, method, params });
    });
  listen(
    ({ kind, bytes }) => {
      if (kind === frameKinds.stderr) process.stderr.write(bytes);
      const answer = kind === frameKinds.message ? parseJson(bytes.toString()) : undefined;
      if (!isObject(answer)) return;
      pending.get(Number(answer['id']))?.(answer);
      pending.delete(Number(answer['id']));
    },
    () => {
      isClosed = true;
      for (const resolve of pending.values()) resolve(undefined);
    },
  );
  const clientInfo = { name: 'carrel', version };
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  send({ method: 'notifications/initialized' });
  return {
    process: `the running process ${welcome.pid}`,
    data: welcome.data ?? { database: `process ${welcome.pid}` },
    async call(name, args) {
      const { structuredContent } = resultOf(await request('tools/call', { name, arguments: args }));
      return isObject(structuredContent) ? structuredContent : {};
    },
    async read(uri, cursor) {
      const params = { uri, ...(cursor === undefined ? {} : { cursor }) };
      return resultOf(await request('resources/read', params)) as unknown as ResourceContents;
    },
    async close() {
      if (socket.writableEnded) return;
      socket.end(encodeFrame(frameKinds.end));
      socket.unref();
    },
  };
}

function resultOf(answer: Fields | undefined): Fields {
  if (answer === undefined)
    throw new CarrelError('unavailable', 'The Carrel process that was answering has exited. Run the command again.');
  const { result, error } = answer;
  if (isObject(result) && result['isError'] !== true) return result;
  const { structuredContent } = isObject(result) ? result : {};
  const failure = isObject(structuredContent) ? structuredContent['error'] : error;
  const { code, message, data } = isObject(failure) ? failure : {};
  const errorCode = isObject(data) ? data['code'] : code;
  throw new CarrelError(
    (typeof errorCode === 'string' ? errorCode : 'unavailable') as ErrorCode,
    String(message ?? ''),
  );
}
