import type { IncomingMessage, ServerResponse } from 'node:http';
import { isCarrelError } from '../base/errors.ts';
import { readBody } from '../http/body.ts';
import { parseForm } from '../http/form.ts';
import { respondJson, respondText } from '../http/respond.ts';
import { securityHeaders } from './assets.ts';

/** Reads a submitted form. If it is not a form or too large, answers the request with an error and returns undefined. */
export async function readForm(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
): Promise<URLSearchParams | undefined> {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '');
  const body = isForm ? await readBody(request, bytesMax) : undefined;
  const form = body?.ok ? await parseForm(body.bytes) : undefined;
  if (form?.ok) return form.fields;
  const [status, problem] = body?.ok ? [413, form?.problem] : [body?.status, body?.problem];
  respondText(response, status ?? 415, problem ?? 'Send a form.', {
    ...securityHeaders,
    connection: 'close',
  });
  return undefined;
}

/** Answers a request of the console's own script, as JSON. */
export async function answerScript(work: Promise<Record<string, unknown>>, response: ServerResponse): Promise<void> {
  try {
    respondJson(response, 200, await work, securityHeaders);
  } catch (error) {
    const message = isCarrelError(error) ? error.message : 'Internal error.';
    respondJson(response, 400, { message }, securityHeaders);
  }
}
