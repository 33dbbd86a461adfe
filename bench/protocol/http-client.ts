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
 * Creates a client on plain sockets, because Node's HTTP client would use more CPU than the measured servers. It reads only
 * what these servers send: sequential answers with a content length or in chunks.
 */
export async function connectHttp({ url, mode, accept, connections }: HttpTarget): Promise<Client> {
  const { host, hostname, port, pathname } = new URL(url);
  const idle = await Promise.all(Array.from({ length: connections }, () => openConnection(hostname, Number(port))));
  const waiters: ((connection: Connection) => void)[] = [];
  const headers = [`POST ${pathname} HTTP/1.1`, `host: ${host}`, 'content-type: application/json', `accept: ${accept}`];
  const isModern = mode === 'modern';
  if (isModern) headers.push(`mcp-protocol-version: ${modernRevision}`, 'mcp-method: tools/call', 'mcp-name: echo');
  let lastId = 0;

  const post = async (body: string): Promise<Answer> => {
    const available = idle.pop() ?? (await new Promise<Connection>((resolve) => waiters.push(resolve)));
    // The server may have closed a connection that was idle while other cases ran.
    const connection = available.isOpen ? available : await openConnection(hostname, Number(port));
    const answer = await connection.send(
      `${headers.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const next = waiters.shift();
    if (next) next(connection);
    else idle.push(connection);
    return answer;
  };

  if (!isModern) {
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
      const { head, body } = await post(callText(id, isModern));
      if (!head.startsWith('HTTP/1.1 200')) throw new Error(`${head}\n${body}`);
      if (/^content-type: text\/event-stream/im.test(head) !== (mode === 'sse'))
        throw new Error(`not ${mode}: ${head}`);
      checkAnswer(mode === 'sse' ? lastEvent(body) : body, id);
    },
    close() {
      for (const connection of idle) connection.close();
    },
  };
}

interface Answer {
  head: string;
  body: string;
}

interface Connection {
  readonly isOpen: boolean;
  send(text: string): Promise<Answer>;
  close(): void;
}

async function openConnection(host: string, port: number): Promise<Connection> {
  const socket: Socket = connect({ host, port, noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = '';
  let pending: PromiseWithResolvers<Answer> | undefined;
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    const answer = readAnswer(received);
    if (answer === undefined) return;
    received = '';
    pending?.resolve(answer);
  });
  socket.on('close', () => pending?.reject(new Error(`the connection was closed after: ${received}`)));
  return {
    get isOpen() {
      return socket.writable;
    },
    send(text) {
      pending = Promise.withResolvers<Answer>();
      socket.write(text);
      return pending.promise;
    },
    close: () => socket.destroy(),
  };
}

function readAnswer(text: string): Answer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = text.slice(0, end);
  const responseBody = text.slice(end + 4);
  if (/^transfer-encoding: chunked/im.test(head)) {
    return responseBody === '0\r\n\r\n' || responseBody.endsWith('\r\n0\r\n\r\n')
      ? { head, body: joinChunks(responseBody) }
      : undefined;
  }
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  return responseBody.length < length ? undefined : { head, body: responseBody };
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
