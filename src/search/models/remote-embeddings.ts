import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { type EmbeddingProvider, type EmbedOptions, normalised } from './embedding-provider.ts';
import { createRemoteCalls, embeddingServer, unavailable } from './remote-calls.ts';

export interface RemoteEmbeddingsConfig {
  /** The model's name. By default, one that fits the kind of server. */
  model?: string | undefined;
  ollamaHost: string;
  openaiBase: string;
  openaiKey?: string | undefined;
  /** Timeout of one request. */
  timeoutMs: number;
  /** How long a search waits for its query vector. */
  queryMs: number;
  attemptsMax: number;
  concurrencyMax: number;
}

/** Max texts per request, within the limits of servers (OpenAI: 2,048 texts, 300,000 tokens). */
const textsPerRequestMax = 64;

/** Max dimensions of a vector, and bytes per number as text. */
const [dimensionsMax, numberBytes] = [8_192, 32];

/** Returns the size limits of an answer for this many texts. */
function answerBounds(texts: number) {
  const elementsMax = 1000 + texts * (dimensionsMax + 100);
  return { bytesMax: 64 * 1024 + texts * dimensionsMax * numberBytes, elementsMax };
}

/** How long searches skip the server after a timeout, unless the server answers meanwhile. */
const pauseMs = 30_000;

const vectorSchema = z.array(z.number()).min(1);

/** Creates a provider for an Ollama server, or for any server with OpenAI's POST /embeddings. */
export function createRemoteEmbeddings(kind: 'ollama' | 'openai', config: RemoteEmbeddingsConfig): EmbeddingProvider {
  const { model, url, headers, bodyOf, answerSchema } = kind === 'ollama' ? ollama(config) : openai(config);
  const { queryMs } = config;
  const calls = createRemoteCalls(config);
  let dimensions: number | undefined;
  let pausedUntil = 0;

  function parseAnswer(answer: unknown, count: number): Float32Array[] {
    const parsed = answerSchema.safeParse(answer);
    if (!parsed.success) throw wrongAnswer('something other than vectors', parsed.error);
    if (parsed.data.length !== count) throw wrongAnswer(`${parsed.data.length} vectors for ${count} texts`);
    return parsed.data.map((numbers) => {
      dimensions ??= numbers.length;
      if (numbers.length !== dimensions) throw wrongAnswer(`${numbers.length} dimensions instead of ${dimensions}`);
      return normalised(Float32Array.from(numbers));
    });
  }

  async function embedAll(
    texts: readonly string[],
    signal: AbortSignal | undefined,
    isUrgent: boolean,
  ): Promise<Float32Array[]> {
    const requests: Promise<Float32Array[]>[] = [];
    for (let start = 0; start < texts.length; start += textsPerRequestMax) {
      const part = texts.slice(start, start + textsPerRequestMax);
      const answered = calls
        .post(url, bodyOf(part), headers, signal, { answer: answerBounds(part.length), isUrgent })
        .then((answer) => {
          pausedUntil = 0;
          return parseAnswer(answer, part.length);
        });
      requests.push(answered);
    }
    return (await Promise.all(requests)).flat();
  }

  /** Embeds a query. Throws on a timeout, but lets the request continue, because the server may be loading its model. */
  async function embedInTime(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const remainingMs = pausedUntil - performance.now();
    if (remainingMs > 0) throw unavailable(embeddingServer, new Error('paused after a timeout'), remainingMs);
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      pausedUntil = performance.now() + pauseMs;
      reject(unavailable(embeddingServer, new Error(`no answer in ${queryMs} ms`), pauseMs));
    }, queryMs);
    try {
      return await Promise.race([embedAll(texts, signal, true), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    name: `${kind}:${model}`,
    device: 'remote',
    get dimensions() {
      return dimensions;
    },
    embed: (texts, { signal, purpose }: EmbedOptions = {}) =>
      purpose === 'query' ? embedInTime(texts, signal) : embedAll(texts, signal, false),
    close: async () => {},
  };
}

interface Server {
  readonly model: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  bodyOf(texts: readonly string[]): object;
  /** The vectors of the answer, in the order of the texts. */
  readonly answerSchema: z.ZodType<number[][]>;
}

function ollama({ model = 'nomic-embed-text', ollamaHost }: RemoteEmbeddingsConfig): Server {
  return {
    model,
    url: `${ollamaHost.replace(/\/+$/, '')}/api/embed`,
    headers: {},
    bodyOf: (input) => ({ model, input, truncate: true }),
    answerSchema: z.object({ embeddings: z.array(vectorSchema) }).transform(({ embeddings }) => embeddings),
  };
}

function openai({ model = 'text-embedding-3-small', openaiBase, openaiKey }: RemoteEmbeddingsConfig): Server {
  return {
    model,
    url: `${openaiBase.replace(/\/+$/, '')}/embeddings`,
    headers: openaiKey ? { authorization: `Bearer ${openaiKey}` } : {},
    bodyOf: (input) => ({ model, input, encoding_format: 'float' }),
    answerSchema: z
      .object({ data: z.array(z.object({ index: z.int(), embedding: vectorSchema })) })
      // The answer may be unordered, but each item has its index.
      .transform(({ data }) => data.sort((left, right) => left.index - right.index).map(({ embedding }) => embedding)),
  };
}

function wrongAnswer(what: string, cause?: unknown): CarrelError {
  const message = `The embedding server answered with ${what}. Check the model's name and its dimensions.`;
  return new CarrelError('unavailable', message, { cause });
}
