import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Listens on a free loopback port and prints the address for the load generator. Idle connections stay open for a minute, as
 * they do in Carrel.
 */
export function listenOnLoopback(handle: RequestListener): void {
  const server = createServer({ keepAliveTimeout: 60_000 }, handle);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
  });
}
