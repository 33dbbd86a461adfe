import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LocalEngine } from '../local/create-engine.ts';

/** A request that has passed the guards and found its route. */
export interface RouteCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly engine: LocalEngine;
  readonly query: URLSearchParams;
  /** What stands in the path where the pattern has a colon. */
  readonly captures: readonly string[];
  readonly signal: AbortSignal;
}
