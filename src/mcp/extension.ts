import type { Server } from '@modelcontextprotocol/server';
import type { Params } from './answer-request.ts';

/** Adds to servers what the tool model cannot express; the conformance fixtures need that. */
export interface Extension {
  install(server: Server): void;
  /** Whether a request is for what it adds: only the SDK's server knows of that. */
  owns(method: string, params: Params | undefined): boolean;
}
