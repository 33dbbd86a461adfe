import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { createRemoteCalls, Refusal } from '../models/remote-calls.ts';
import type { RerankingProvider } from './reranker.ts';

export interface HttpRerankingConfig {
  readonly url: string;
  /** The model's name. Undefined for servers with only one model. */
  readonly model: string | undefined;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
  readonly attemptsMax: number;
  readonly concurrencyMax: number;
  readonly backOffMs?: number;
}

/** The request field for passages: `texts` for Text Embeddings Inference, `documents` for Cohere, Jina, llama.cpp and vLLM. */
type Shape = 'texts' | 'documents';

const scored = z.object({ index: z.int().min(0) }).loose();
const answerSchema = z.union([
  z.array(scored.extend({ score: z.number() })),
  z
    .object({ results: z.array(scored.extend({ relevance_score: z.number() })) })
    .transform(({ results }) => results.map(({ index, relevance_score: score }) => ({ index, score }))),
]);

/** HTTP statuses after which the other request shape is tried. */
const unsupportedStatuses = [400, 404, 405, 415, 422];

/** Max bytes of a UTF-16 unit in JSON, as `\uXXXX`. */
const unitBytesMax = 6;

/** Min distance of a probability from 0 and 1, so that it has a finite logit. */
const probabilityMin = 1e-6;

/** Creates a provider for a server with POST …/rerank. The first request finds out which of two request shapes it accepts. */
export function createHttpReranking(config: HttpRerankingConfig): RerankingProvider {
  const { model, apiKey } = config;
  const calls = createRemoteCalls({
    ...config,
    server: { name: 'The reranking server', withoutIt: 'Searches still work, in the order without reranking.' },
  });
  const url = addressOf(config.url);
  const headers: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  let shape: Shape | undefined;
  let returnsLogits = false;

  function request(requestShape: Shape, query: string, passages: readonly string[], signal: AbortSignal | undefined) {
    const body =
      requestShape === 'texts'
        ? { query, texts: passages, raw_scores: true, truncate: true }
        : { ...(model ? { model } : {}), query, documents: passages, top_n: passages.length };
    const textBytes = passages.reduce((sum, passage) => sum + unitBytesMax * passage.length, 0);
    const answer = {
      bytesMax: 64 * 1024 + 1024 * passages.length + textBytes,
      elementsMax: 1000 + 32 * passages.length,
    };
    return calls.post(url, body, headers, signal, { answer, isUrgent: true });
  }

  async function scoresOf(
    query: string,
    passages: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<number[]> {
    const first = shape ?? 'documents';
    try {
      const scores = parseAnswer(await request(first, query, passages, signal), passages.length);
      shape = first;
      return scores;
    } catch (error) {
      if (shape !== undefined || !isUnsupportedShape(error)) throw error;
      const scores = parseAnswer(await request('texts', query, passages, signal), passages.length);
      shape = 'texts';
      returnsLogits = true;
      return scores;
    }
  }

  function parseAnswer(answer: unknown, count: number): number[] {
    const parsed = answerSchema.safeParse(answer);
    if (!parsed.success) throw wrongAnswer('something other than scores', parsed.error);
    const scores = new Map(parsed.data.map(({ index, score }) => [index, score]));
    if (scores.size !== count || parsed.data.length !== count || [...scores.keys()].some((index) => index >= count)) {
      throw wrongAnswer(`${parsed.data.length} scores for ${count} passages`);
    }
    return Array.from({ length: count }, (_, index) => scores.get(index) ?? 0);
  }

  /** Converts probabilities to logits. A score outside 0 to 1 shows that the server already returns logits. */
  function logitsOf(scores: readonly number[]): number[] {
    returnsLogits ||= scores.some((score) => score < 0 || score > 1);
    return returnsLogits ? [...scores] : scores.map(logitOfProbability);
  }

  return {
    name: `http:${model ?? new URL(url).host}`,
    device: 'remote',
    score: async (query, passages, signal) =>
      passages.length === 0 ? [] : logitsOf(await scoresOf(query, passages, signal)),
    close: async () => {},
  };
}

/** Appends /rerank unless the address ends with it. */
function addressOf(configured: string): string {
  const url = new URL(configured);
  if (!/\/rerank\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/+$/, '')}/rerank`;
  return url.href;
}

function isUnsupportedShape(error: unknown): boolean {
  const cause = error instanceof CarrelError ? error.cause : undefined;
  return cause instanceof Refusal && unsupportedStatuses.includes(cause.status);
}

function logitOfProbability(probability: number): number {
  const clamped = Math.min(1 - probabilityMin, Math.max(probabilityMin, probability));
  return Math.log(clamped / (1 - clamped));
}

function wrongAnswer(what: string, cause?: unknown): CarrelError {
  const message = `The reranking server answered with ${what}. Check its address and the model's name.`;
  return new CarrelError('unavailable', message, { cause });
}
