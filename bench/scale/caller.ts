import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Owner } from '../../test/fakes/loopback-server.ts';
import { exchange, modernRequest } from '../../test/support/raw-http.ts';

export type Fields = Record<string, unknown>;

/** Makes tool calls over HTTP as clients of MCP revision 2026-07-28 do, without a session. */
export interface Caller {
  /** Returns the structured result. Retries if no answer came; throws if the tool reports an error. */
  call(tool: string, args: Fields): Promise<Fields>;
  /** Durations of answered calls in ms, by tool. */
  readonly times: ReadonlyMap<string, readonly number[]>;
  /** Returns the number of retries after a call without an answer. */
  readonly retries: () => number;
}

const retryDelayMs = 20;
const attemptsMax = 500;

export function createCaller(owner: Owner, url: string): Caller {
  const agent = new Agent({ keepAlive: true });
  owner.after(() => agent.destroy());
  const times = new Map<string, number[]>();
  let retries = 0;
  return {
    times,
    retries: () => retries,
    async call(tool, args) {
      const { headers, message } = modernRequest('tools/call', { name: tool, arguments: args });
      const body = JSON.stringify(message);
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const startMs = performance.now();
        const answer = await exchange(url, { headers, body, agent }).catch(() => undefined);
        const [first] = answer?.messages ?? [];
        if (first !== undefined) {
          const durations = times.get(tool) ?? [];
          durations.push(performance.now() - startMs);
          times.set(tool, durations);
          return resultOf(tool, Object(first));
        }
        retries += 1;
        await delay(retryDelayMs);
      }
      throw new Error(`${tool}: no answer`);
    },
  };
}

function resultOf(tool: string, { result, error }: Fields): Fields {
  const { isError, structuredContent } = Object(result);
  if (error !== undefined || isError === true || structuredContent === undefined) {
    throw new Error(`${tool}: ${JSON.stringify(error ?? structuredContent ?? result).slice(0, 300)}`);
  }
  return structuredContent;
}
