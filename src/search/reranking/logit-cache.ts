import { createHash } from 'node:crypto';

/** About 100 bytes each. */
const logitsMax = 20_000;

/** What a model gave for a question and a passage. It always gives the same, so nothing ever goes stale. */
export interface LogitCache {
  get(query: string, passage: string): number | undefined;
  put(query: string, passage: string, logit: number): void;
}

/** Of one model. The oldest go first. */
export function createLogitCache(): LogitCache {
  const logits = new Map<string, number>();
  return {
    get: (query, passage) => logits.get(keyOf(query, passage)),
    put(query, passage, logit) {
      logits.set(keyOf(query, passage), logit);
      if (logits.size <= logitsMax) return;
      const [oldest] = logits.keys();
      if (oldest !== undefined) logits.delete(oldest);
    },
  };
}

function keyOf(query: string, passage: string): string {
  return createHash('sha256').update(`${query.length} `).update(query).update(passage).digest('base64');
}
