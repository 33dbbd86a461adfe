import { CarrelError } from '../../base/errors.ts';
import { createServiceClient, ServiceFailure } from '../../http/service-client.ts';
import type { Remote } from './clients.ts';
import { type Greeting, initialize, initialized, isRecord, listTools, parsed, readGreeting } from './greeting.ts';

/** Shakes hands with a server that runs already; undefined where none answers. */
export async function greetRemote({ url, token }: Remote): Promise<Greeting | undefined> {
  const startedAt = performance.now();
  const { origin, pathname: path } = new URL(url);
  const client = createServiceClient({
    baseUrl: origin,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    timeoutMs: 10_000,
    answerBytesMax: 4 * 1024 * 1024,
  });
  try {
    const send = async (message: object, headers: Record<string, string>) => {
      const answer = await client.request({
        method: 'POST',
        path,
        headers,
        body: Buffer.from(JSON.stringify(message)),
      });
      if (answer.status === 401 || answer.status === 403) throw refused(url);
      return { session: answer.headers['mcp-session-id'], result: resultOf(answer.body.toString('utf8')) };
    };
    const { session, result } = await send(initialize, {});
    const headers = {
      'mcp-protocol-version': '2025-11-25',
      ...(typeof session === 'string' ? { 'mcp-session-id': session } : {}),
    };
    await send(initialized, headers);
    const { result: tools } = await send(listTools, headers);
    await client.request({ method: 'DELETE', path, headers }).catch(() => {});
    return readGreeting(result, tools, startedAt);
  } catch (error) {
    if (error instanceof ServiceFailure) return undefined;
    throw error;
  } finally {
    client.close();
  }
}

/** A body is one JSON message, or an event stream with it. */
function resultOf(body: string): unknown {
  for (const line of body.startsWith('{') ? [body] : body.split(/\r?\n/)) {
    const text = line.startsWith('data:') ? line.slice('data:'.length) : line;
    if (!text.trimStart().startsWith('{')) continue;
    const message = parsed(text);
    if (isRecord(message) && 'result' in message) return message['result'];
  }
  return undefined;
}

function refused(url: string): CarrelError {
  return new CarrelError(
    'unavailable',
    `The server at ${url} does not accept the configured token (CARREL_AUTH_TOKEN or http.authToken). Nothing was changed.`,
  );
}
