import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { type EmbeddingProvider, type EmbedOptions, normalised } from './embedding-provider.ts';
import { createSilentServer } from './silent-server.ts';

export interface RemoteEmbeddingsDeps {
  name: string;
  dimensions: number | undefined;
  /** How long a search waits for the vector of its query. */
  queryMs: number;
  /** Asks the server for the vectors of a few texts. */
  request(texts: readonly string[], signal: AbortSignal | undefined): Promise<unknown>;
  /** The vectors in the answer, in the order of the texts. */
  answerSchema: z.ZodType<number[][]>;
}

/** Keeps a request within the limits of servers (OpenAI: 2,048 texts, 300,000 tokens). */
const textsPerRequestMax = 64;

/** What the HTTP providers have in common: requests of limited size, and answers that are checked. */
export function createRemoteEmbeddings(deps: RemoteEmbeddingsDeps): EmbeddingProvider {
  let { dimensions } = deps;
  const server = createSilentServer(deps.queryMs);

  function checked(answer: unknown, count: number): Float32Array[] {
    const parsed = deps.answerSchema.safeParse(answer);
    if (!parsed.success) throw wrongAnswer('something else than vectors', parsed.error);
    if (parsed.data.length !== count) throw wrongAnswer(`${parsed.data.length} vectors for ${count} texts`);
    return parsed.data.map((numbers) => {
      dimensions ??= numbers.length;
      if (numbers.length !== dimensions) throw wrongAnswer(`${numbers.length} dimensions instead of ${dimensions}`);
      return normalised(Float32Array.from(numbers));
    });
  }

  async function embedAll(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const starts = Array.from(
      { length: Math.ceil(texts.length / textsPerRequestMax) },
      (_, n) => n * textsPerRequestMax,
    );
    const parts = await Promise.all(
      starts.map(async (start) => {
        const part = texts.slice(start, start + textsPerRequestMax);
        const answer = await deps.request(part, signal);
        server.heard();
        return checked(answer, part.length);
      }),
    );
    return parts.flat();
  }

  return {
    name: deps.name,
    device: 'remote',
    get dimensions() {
      return dimensions;
    },
    embed(texts, { signal, purpose }: EmbedOptions = {}) {
      const work = () => embedAll(texts, signal);
      return purpose === 'query' ? server.inTime(work) : work();
    },
    close: async () => {},
  };
}

export const vectorSchema = z.array(z.number()).min(1);

function wrongAnswer(what: string, cause?: unknown): CarrelError {
  const message = `The embedding server answered with ${what}. Check the model's name and its dimensions.`;
  return new CarrelError('unavailable', message, { cause });
}
