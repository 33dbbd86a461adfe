import { connect, type Socket } from 'node:net';

/** Opens a TCP connection to this URL's server, to send what no HTTP client would. */
export function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''), () => resolve(socket));
    socket.once('error', reject);
    // The server may reset the connection; tests only check what was received before.
    socket.on('error', () => {});
  });
}

/** Sends bytes and returns everything received until the server closes. */
export async function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const socket = await openSocket(url);
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  socket.write(bytes);
  await closed(socket);
  return text;
}

export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}
