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
  const free = await Promise.all(Array.from({ length: connections }, () => openLine(hostname, Number(port))));
  const waiting: ((line: Line) => void)[] = [];
  const fixed = [`POST ${pathname} HTTP/1.1`, `host: ${host}`, 'content-type: application/json', `accept: ${accept}`];
  const modern = mode === 'modern';
  if (modern) fixed.push(`mcp-protocol-version: ${modernRevision}`, 'mcp-method: tools/call', 'mcp-name: echo');
  let lastId = 0;

  const post = async (body: string): Promise<Answer> => {
    const taken = free.pop() ?? (await new Promise<Line>((resolve) => waiting.push(resolve)));
    // The server may have closed a connection that was idle while other cases ran.
    const line = taken.open ? taken : await openLine(hostname, Number(port));
    const answer = await line.ask(`${fixed.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const next = waiting.shift();
    if (next) next(line);
    else free.push(line);
    return answer;
  };

  if (!modern) {
    const { head } = await post(initialize);
    const session = /^mcp-session-id: (.+)$/im.exec(head)?.[1]?.trim();
    if (session !== undefined) fixed.push(`mcp-session-id: ${session}`);
    fixed.push(`mcp-protocol-version: ${sessionRevision}`);
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
      for (const line of free) line.close();
    },
  };
}

interface Answer {
  head: string;
  body: string;
}

interface Line {
  readonly open: boolean;
  ask(text: string): Promise<Answer>;
  close(): void;
}

async function openLine(host: string, port: number): Promise<Line> {
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
    ask(text) {
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
  const rest = text.slice(end + 4);
  if (/^transfer-encoding: chunked/im.test(head)) {
    return rest === '0\r\n\r\n' || rest.endsWith('\r\n0\r\n\r\n') ? { head, body: joinChunks(rest) } : undefined;
  }
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  return rest.length < length ? undefined : { head, body: rest };
}

function joinChunks(text: string): string {
  let body = '';
  for (let at = 0; ; ) {
    const line = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, line), 16);
    if (!(size > 0)) return body;
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

function lastEvent(body: string): string {
  const at = body.lastIndexOf('\ndata: ');
  return body.slice(at + 7, body.indexOf('\n', at + 7));
}
