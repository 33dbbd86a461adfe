import type { IncomingMessage, ServerResponse } from 'node:http';
import { isUnrestricted, type Principal } from '../base/rights.ts';
import { refuseUnread, respondText } from './respond.ts';

/** Version 0.0.4 of Prometheus's text format, which every Prometheus reads. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** `/metrics`, for somebody whose token was accepted, or where none is needed. */
export async function answerMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  principal: Principal | undefined,
  text: () => Promise<string>,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const detail = 'This path takes GET, HEAD.';
    refuseUnread(response, 405, { error: 'method_not_allowed', detail }, { allow: 'GET, HEAD' });
    return;
  }
  if (principal !== undefined && !isUnrestricted(principal.rights)) {
    const detail = 'These figures are of everything that is served here, and this token is for a part of it.';
    refuseUnread(response, 403, { error: 'forbidden', detail });
    return;
  }
  respondText(response, 200, await text(), { 'content-type': contentType });
}

/** nginx's number for a client that went away before it was answered. */
const goneStatus = 499;

/** With which status an exchange ended. */
export function statusOf(response: ServerResponse): number {
  return response.headersSent ? response.statusCode : goneStatus;
}
