import type { IncomingMessage, ServerResponse } from 'node:http';
import { isUnrestricted, type Principal } from '../base/rights.ts';
import { refuseUnread, respondText } from './respond.ts';

/** Content type of Prometheus's text format 0.0.4, which all versions of Prometheus read. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Answers `/metrics`. The caller must have checked the token. */
export async function answerMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  principal: Principal | undefined,
  text: () => Promise<string>,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const detail = 'This path accepts GET and HEAD.';
    refuseUnread(response, 405, { error: 'method_not_allowed', detail }, { allow: 'GET, HEAD' });
    return;
  }
  if (principal !== undefined && !isUnrestricted(principal.rights)) {
    const detail =
      'These metrics cover everything served here, and this token is restricted. Use a token without restrictions.';
    refuseUnread(response, 403, { error: 'forbidden', detail });
    return;
  }
  respondText(response, 200, await text(), { 'content-type': contentType });
}

/** The status that nginx logs for a client that disconnected before the answer. */
const disconnectedStatus = 499;

/** Returns the status that was sent, or 499 if none was. */
export function statusOf(response: ServerResponse): number {
  return response.headersSent ? response.statusCode : disconnectedStatus;
}
