import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';

export interface CanaryHit {
  address: string;
  port: number;
}

export interface Internet {
  /** Every connection except to the public site, in order. */
  readonly canaryHits: readonly CanaryHit[];
  /** Connections to the public site. */
  readonly publicConnections: number;
}

/** The text of the public site's page; canaries return another. */
export const publicPage = 'a page of the public site';

/**
 * Simulates the whole address space on one machine. Inside the namespace every address is local, so a connection to any
 * address reaches these listeners: a web site on the public ones, a canary on all others.
 */
export async function startInternet(
  publicAddresses: ReadonlySet<string>,
  certificate: { cert: string; key: string },
): Promise<Internet> {
  const internet = { canaryHits: [] as CanaryHit[], publicConnections: 0 };
  const site = createServer(servePublic);
  const secureSite = createTlsServer(certificate, servePublic);
  const canary = createServer((_request, response) => response.end('canary'));
  for (const port of [...webPorts, ...servicePorts]) {
    const listener = createTcpServer((socket) => {
      const address = (socket.localAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
      socket.on('error', () => {});
      if (publicAddresses.has(address) && webPorts.includes(port)) {
        internet.publicConnections += 1;
        (port === 443 ? secureSite : site).emit('connection', socket);
      } else {
        internet.canaryHits.push({ address, port });
        canary.emit('connection', socket);
      }
    });
    listener.listen(port, '::');
    await once(listener, 'listening');
  }
  return internet;
}

const webPorts = [80, 443, 8080];
export const servicePorts = [21, 22, 23, 25, 53, 110, 143, 389, 445, 2375, 3306, 5432, 6379, 9200, 10250, 11211, 27017];

/**
 * `/` is a page. `/to?status=302&location=…` redirects to the location; with `hops=3` it redirects to itself first, so that
 * the location is the third redirect.
 */
function servePublic(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://site.invalid');
  if (url.pathname !== '/to') {
    response.setHeader('content-type', 'text/plain');
    response.end(publicPage);
    return;
  }
  const hops = Number(url.searchParams.get('hops') ?? 1);
  const status = Number(url.searchParams.get('status') ?? 302);
  url.searchParams.set('hops', String(hops - 1));
  const location = hops > 1 ? url.pathname + url.search : (url.searchParams.get('location') ?? '/');
  // The page of a redirect must not be followed either, by a meta element or otherwise.
  response.writeHead(status, {
    location: Buffer.from(location).toString('latin1'),
    refresh: '0; url=http://169.254.169.254/',
    'content-type': 'text/html',
  });
  response.end('<meta http-equiv="refresh" content="0; url=http://169.254.169.254/">');
}
