import type { IncomingMessage, ServerResponse } from 'node:http';
import { encodedProblem, isEncoded, isJsonBody, readBody } from '../../http/body.ts';
import { refuseUnread, respondJson } from '../../http/respond.ts';
import { errorAnswer, type MessageLimits, type ParsedText, readMessageBytes } from '../messages/messages.ts';
import { rpcCodes } from '../wire-errors.ts';

/** Reads the JSON-RPC messages of a POST body. Answers with an error and returns undefined if they are invalid. */
export async function readMessages(
  request: IncomingMessage,
  response: ServerResponse,
  limits: MessageLimits,
  invalidStatus: 200 | 400 = 400,
): Promise<(ParsedText & { ok: true }) | undefined> {
  if (!isJsonBody(request)) {
    refuseUnread(response, 415, rpcProblem('Content-Type must be application/json, in UTF-8.'));
    return undefined;
  }
  if (isEncoded(request)) {
    refuseUnread(response, 415, rpcProblem(encodedProblem), { 'accept-encoding': 'identity' });
    return undefined;
  }
  const body = await readBody(request, limits.bytesMax);
  if (!body.ok) {
    refuseUnread(response, body.status, rpcProblem(body.problem));
    return undefined;
  }
  const message = readMessageBytes(body.bytes, limits);
  if (message.ok) return message;
  respondJson(response, invalidStatus, errorAnswer(message.id, message.code, message.problem));
  return undefined;
}

/** Creates the body of an HTTP error, in the shape that MCP clients read. */
export function rpcProblem(problem: string): object {
  return errorAnswer(null, rpcCodes.invalidRequest, problem);
}

export function respondProblem(
  response: ServerResponse,
  status: number,
  problem: string,
  headers?: Record<string, string>,
): void {
  respondJson(response, status, rpcProblem(problem), headers);
}
