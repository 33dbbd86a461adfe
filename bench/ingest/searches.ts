import type { EngineClient } from '../../test/support/engine-client.ts';
import { createRandom } from '../statistics.ts';
import { queryWords } from './markdown.ts';

/** Runs one search at a time, up to `count` or until the signal aborts. Returns their durations in ms, including timeouts. */
export async function measureSearches(
  engine: EngineClient,
  { count = Number.POSITIVE_INFINITY, signal }: { count?: number; signal?: AbortSignal },
): Promise<number[]> {
  const random = createRandom(7);
  const times: number[] = [];
  while (times.length < count && !signal?.aborted) {
    const query = queryWords(random);
    const startMs = performance.now();
    const { status, json } = await engine.call('POST', '/search', { query });
    if (status !== 200 && status !== 504) throw new Error(`${status} ${JSON.stringify(json)}`);
    times.push(performance.now() - startMs);
  }
  return times;
}
