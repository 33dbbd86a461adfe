import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { echoProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { until } from '../support/pause.ts';
import { exchange, jsonHeaders, modernRequest, openSession } from '../support/raw-http.ts';
import { closed, openSocket } from '../support/raw-socket.ts';

/** Each suite has a separate program. Both wait for server timeouts, so they run in parallel. */
describe('deliberately slow peers', { concurrency: true }, () => {
  const served = async ({ url }: ListeningProgram): Promise<boolean> => {
    try {
      return (await exchange(String(new URL('/health', url)), { method: 'GET' })).status === 200;
    } catch {
      return false;
    }
  };
  const gone = (socket: Socket): Promise<void> => {
    socket.resume();
    return closed(socket);
  };

  it('T038: disconnects peers that send nothing, half a header or half a body, and serves others', async () => {
    const program = await startListening(echoProgram, ['--impatient']);
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const starts = ['', 'POST /mcp HTTP/1.1\r\nHost: loc', `${head}Content-Length: 100\r\n\r\n{`];
    const sockets = await Promise.all(
      Array.from({ length: 150 }, async (_, index) => {
        const socket = await openSocket(program.url);
        socket.write(starts[index % starts.length] ?? '');
        return socket;
      }),
    );
    assert(await served(program));
    await Promise.all(sockets.map(gone));
    assert(await served(program));
    await program.stop();
  });

  it('T039: disconnects peers that do not read their answer', async () => {
    const program = await startListening(echoProgram, ['--impatient']);
    // Counted before the session opens: its connection may close at any time.
    const before = program.openFiles();
    const { headers, message } = modernRequest('tools/call', { name: 'large', arguments: { chars: 9_000_000 } });
    const session = await openSession(program.url);
    const body = JSON.stringify(message);
    const legacy = JSON.stringify({ ...message, params: { name: 'large', arguments: { chars: 9_000_000 } } });
    const ask = async (fields: Record<string, string>, text: string) => {
      const socket = await openSocket(program.url);
      const lines = Object.entries({ host: 'localhost', 'content-length': String(text.length), ...fields });
      socket.write(
        `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`,
      );
      return socket;
    };
    const sockets = await Promise.all([
      ...Array.from({ length: 5 }, () => ask(headers, body)),
      ...Array.from({ length: 5 }, () => ask({ ...jsonHeaders, ...session.headers }, legacy)),
    ]);
    // Connections are accepted in order, so the server has all of them when it answers a later one. A paused socket does not
    // notice that it was closed, so the server's side is counted.
    assert(await served(program));
    await until(() => program.openFiles() <= before + 2);
    assert(await served(program));
    for (const socket of sockets) socket.destroy();
    await program.stop();
  });

  it('T040: event streams whose clients are gone are freed', async () => {
    const program = await startListening(echoProgram);
    const before = program.openFiles();
    const sessions = await Promise.all(Array.from({ length: 100 }, () => openSession(program.url)));
    const streams = await Promise.all(
      sessions.map(async ({ headers }) => {
        const socket = await openSocket(program.url);
        const lines = Object.entries({ host: 'localhost', accept: 'text/event-stream', ...headers });
        socket.write(`GET /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
        await new Promise((resolve) => socket.once('data', resolve));
        return socket;
      }),
    );
    assert(program.openFiles() >= before + 100);
    for (const socket of streams) socket.resetAndDestroy();
    await until(() => program.openFiles() <= before + 2);
    const [session] = sessions;
    const again = await exchange(program.url, { method: 'DELETE', headers: session?.headers ?? {} });
    assert.equal(again.status, 200);
    await program.stop();
  });

  it('T046: caps connections, and accepts new ones again later', async () => {
    const program = await startListening(echoProgram);
    const sockets = await Promise.all(Array.from({ length: 2_500 }, () => openSocket(program.url)));
    assert(program.openFiles() < 2_200);
    await until(() => served(program));
    for (const socket of sockets) socket.destroy();
    assert(await served(program));
    await program.stop();
  });
});
