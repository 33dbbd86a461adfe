import { connect, type Socket } from 'node:net';
import type { HttpMode } from './peers/echo.ts';
import type { Client } from './stdio-client.ts';
import { callText, checkAnswer, initialize, initialized, modernRevision, sessionRevision } from './wire-text.ts';

export interface HttpTarget {
  url: string;
  mode: HttpMode;
  accept: string;
  /** Number of open connections, and so the maximum of concurrent calls. */
  connections: number;
}

/**
 * Creates a client on plain sockets, because Node's HTTP client would use more CPU than the measured servers. It supports only
 * what these servers send: one answer after another on a connection, with a length or in chunks.
 */
export async function connectHttp({ url, mode, accept, connections }: HttpTarget): Promise<Client> {
  const { host, hostname, port, pathname } = new URL(url);
  const free = await Promise.all(Array.from({ length: connections }, () => openConnection(hostname, Number(port))));
  const waiting: ((connection: Connection) => void)[] = [];
  const headers = [`POST ${pathname} HTTP/1.1`, `host: ${host}`, 'content-type: application/json', `accept: ${accept}`];
  const modern = mode === 'modern';
  if (modern) headers.push(`mcp-protocol-version: ${modernRevision}`, 'mcp-method: tools/call', 'mcp-name: echo');
  let lastId = 0;

  const post = async (body: string): Promise<Answer> => {
    const available = free.pop() ?? (await new Promise<Connection>((resolve) => waiting.push(resolve)));
    // The server may have closed a connection that was idle while other cases ran.
    const connection = available.open ? available : await openConnection(hostname, Number(port));
    const answer = await connection.send(
      `${headers.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const next = waiting.shift();
    if (next) next(connection);
    else free.push(connection);
    return answer;
  };

  if (!modern) {
    const { head } = await post(initialize);
    const session = /^mcp-session-id: (.+)$/im.exec(head)?.[1]?.trim();
    if (session !== undefined) headers.push(`mcp-session-id: ${session}`);
    headers.push(`mcp-protocol-version: ${sessionRevision}`);
    await post(initialized);
  }
  return {
    async call() {
      lastId += 1;
      const id = lastId;
      const { head, body } = await post(callText(id, modern));
      if (!head.startsWith('HTTP/1.1 200')) throw new Error(`${head}\n${body}`);
      if (/^content-type: text\/event-stream/im.test(head) !== (mode === 'sse'))
        throw new Error(`not ${mode}: ${head}`);
      checkAnswer(mode === 'sse' ? lastEvent(body) : body, id);
    },
    close() {
      for (const connection of free) connection.close();
    },
  };
}

interface Answer {
  head: string;
  body: string;
}

interface Connection {
  readonly open: boolean;
  send(text: string): Promise<Answer>;
  close(): void;
}

async function openConnection(host: string, port: number): Promise<Connection> {
  const socket: Socket = connect({ host, port, noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = '';
  let waiting: PromiseWithResolvers<Answer> | undefined;
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    const answer = readAnswer(received);
    if (answer === undefined) return;
    received = '';
    waiting?.resolve(answer);
  });
  socket.on('close', () => waiting?.reject(new Error(`the connection was closed after: ${received}`)));
  return {
    get open() {
      return socket.writable;
    },
    send(text) {
      waiting = Promise.withResolvers<Answer>();
      socket.write(text);
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}

function readAnswer(text: string): Answer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = text.slice(0, end);
  const remainder = text.slice(end + 4);
  if (/^transfer-encoding: chunked/im.test(head)) {
    return remainder === '0\r\n\r\n' || remainder.endsWith('\r\n0\r\n\r\n')
      ? { head, body: joinChunks(remainder) }
      : undefined;
  }
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  return remainder.length < length ? undefined : { head, body: remainder };
}

function joinChunks(text: string): string {
  let body = '';
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(size > 0)) return body;
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
}

function lastEvent(body: string): string {
  const at = body.lastIndexOf('\ndata: ');
  return body.slice(at + 7, body.indexOf('\n', at + 7));
}
