import type { IncomingMessage, ServerResponse } from 'node:http';
import { CarrelError, type ErrorCode, type ErrorKind } from '../../base/errors.ts';
import { encodedProblem, isEncoded } from '../../http/body.ts';
import { refuseUnread, respondJson } from '../../http/respond.ts';
import type { SecretRoute } from '../../tools/toolset.ts';

/** Max time without progress on a request body. */
const stallMs = 30_000;

const statuses: Record<ErrorKind, number> = {
  input: 400,
  not_found: 404,
  limit: 413,
  forbidden: 403,
  upstream: 503,
  timeout: 408,
  cancelled: 400,
  config: 500,
  internal: 500,
};

const statusesOfCodes: Partial<Record<ErrorCode, number>> = { upload_conflict: 409, storage_full: 507 };

export async function answerSecretRoute(
  route: SecretRoute,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== route.method) {
    const problem = { error: 'method_not_allowed', detail: `This address accepts only ${route.method}.` };
    refuseUnread(response, 405, problem, { allow: route.method });
    return;
  }
  if (isEncoded(request)) {
    const problem = { error: 'unsupported_media_type', detail: encodedProblem };
    refuseUnread(response, 415, problem, { 'accept-encoding': 'identity' });
    return;
  }
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  const declared = request.headers['content-length'];
  try {
    const answer = await route.handle({
      subpath: path.slice(route.pathPrefix.length),
      contentLength: declared === undefined ? undefined : Number(declared),
      body: bodyOf(request),
      signal: controller.signal,
    });
    respondJson(response, 201, answer);
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    const status = statusesOfCodes[error.code] ?? statuses[error.kind];
    refuseUnread(response, status, { error: error.code, detail: error.message });
  }
}

async function* bodyOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  let hasStalled = false;
  const timer = setTimeout(() => {
    hasStalled = true;
    request.destroy();
  }, stallMs);
  try {
    // If the handler stops reading early, the connection must stay open for the answer.
    for await (const part of request.iterator({ destroyOnReturn: false })) {
      timer.refresh();
      yield part as Uint8Array;
    }
  } catch (error) {
    const failure = hasStalled ? 'stalled' : 'was cut off';
    const message = `The body ${failure} before it was complete. Send it again.`;
    throw new CarrelError('upload_incomplete', message, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
