import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { echoProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { until } from '../support/pause.ts';
import { exchange, jsonHeaders, modernRequest, openSession } from '../support/raw-http.ts';
import { openSocket } from '../support/raw-socket.ts';

/** Each holds sockets of a program of its own; both wait for the server's clocks, so they run side by side. */
describe('deliberately slow peers', { concurrency: true }, () => {
  const served = async ({ url }: ListeningProgram): Promise<boolean> => {
    try {
      return (await exchange(String(new URL('/health', url)), { method: 'GET' })).status === 200;
    } catch {
      return false;
    }
  };
  const gone = (socket: Socket) =>
    new Promise<void>((resolve) => {
      socket.resume();
      socket.once('close', () => resolve());
    });

  it('T038: those who say nothing, half a header or half a body are cut off, and others are served', async () => {
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

  it('T039: those who do not read their answer are cut off', async () => {
    const program = await startListening(echoProgram, ['--impatient']);
    // Counted before the session is opened: its connection may be gone, or not yet, by the time the others are there.
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
    // Connections are accepted in their order, so the server has all of them when it answers a later one. A socket that is paused
    // does not even notice that it was closed: the server's side is what counts.
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

  it('T046: connections are capped, and others get in again', async () => {
    const program = await startListening(echoProgram);
    const sockets = await Promise.all(Array.from({ length: 2_500 }, () => openSocket(program.url)));
    assert(program.openFiles() < 2_200);
    await until(() => served(program));
    for (const socket of sockets) socket.destroy();
    assert(await served(program));
    await program.stop();
  });
});
