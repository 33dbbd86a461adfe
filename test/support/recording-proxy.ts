import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { type LoopbackServer, type Owner, serveHttp } from '../fakes/loopback-server.ts';

export interface RecordedRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface RecordingProxy extends LoopbackServer {
  /** The recorded traffic, oldest first. */
  readonly requests: RecordedRequest[];
  /** While true, connections are closed as soon as they open. */
  isDown: boolean;
  json(index: number): unknown;
}

/** Forwards everything unchanged between a client and a server, and records the requests. */
export async function startRecordingProxy(
  t: Owner,
  /** The server, or a function that chooses one for each request. */
  target: string | ((headers: IncomingHttpHeaders) => string),
): Promise<RecordingProxy> {
  const requests: RecordedRequest[] = [];
  const server = await serveHttp(t, (incoming, outgoing) => {
    if (proxy.isDown) {
      incoming.socket.destroy();
      return;
    }
    const { method = '', url = '', headers } = incoming;
    const record: RecordedRequest = { method, url, headers, text: '' };
    requests.push(record);
    const forwarded = httpRequest(
      new URL(url, typeof target === 'string' ? target : target(headers)),
      { method, headers, agent: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.on('data', (part: Buffer) => {
      record.text += part.toString('latin1');
    });
    incoming.pipe(forwarded);
  });
  const proxy: RecordingProxy = {
    ...server,
    requests,
    isDown: false,
    json: (index) => JSON.parse(Buffer.from(requests.at(index)?.text ?? '', 'latin1').toString('utf8')),
  };
  return proxy;
}
