import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LocalEngine } from '../local/local-engine.ts';

/** A request that has passed the guards and matched a route. */
export interface RouteCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly engine: LocalEngine;
  readonly query: URLSearchParams;
  /** The path parameters, by name. */
  readonly captures: readonly string[];
  /** Whether this caller may change nothing. */
  readonly isReadOnly: boolean;
  readonly signal: AbortSignal;
}
