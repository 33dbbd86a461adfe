import type { IncomingMessage, ServerResponse } from 'node:http';
import { isUnrestricted, type Principal } from '../base/rights.ts';
import { refuseUnread, respondText } from './respond.ts';

/** Version 0.0.4 of Prometheus's text format, which every Prometheus reads. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** `/metrics`, for callers with an accepted token or where none is needed. */
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

/** nginx's status for a client that left before the answer. */
const goneStatus = 499;

/** The status with which an exchange ended. */
export function statusOf(response: ServerResponse): number {
  return response.headersSent ? response.statusCode : goneStatus;
}
