import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';

/** A test's context, or `{ after }` of node:test for a whole file. The server stops when its owner ends. */
export interface Owner {
  after(clean: () => void | Promise<void>): void;
}

export interface LoopbackServer {
  port: number;
  /** `http://127.0.0.1:<port>` */
  origin: string;
  server: Server | TcpServer;
}

/** Starts an HTTP server on 127.0.0.1 that stops with the test. */
export async function serveHttp(t: Owner, listener: RequestListener): Promise<LoopbackServer> {
  // 0 keeps idle connections open. Otherwise, a client might reuse a connection that is just being closed.
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return await listen(server);
}

/** Starts a raw TCP server, for bytes that no HTTP server would send. */
export async function serveTcp(t: Owner, onConnection: (socket: Socket) => void): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return await listen(server);
}

async function listen(server: Server | TcpServer): Promise<LoopbackServer> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, origin: `http://127.0.0.1:${port}`, server };
}
