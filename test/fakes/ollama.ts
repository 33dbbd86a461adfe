import { type LoopbackServer, type Owner, serveHttp } from './loopback-server.ts';

export interface FakeOllama extends LoopbackServer {
  /** `down`: refuses requests. `hung`: never answers. */
  mode: 'up' | 'down' | 'hung';
  /** How often each text was received, answered or not. */
  readonly received: Map<string, number>;
  /** Resolves with the first request. */
  readonly firstRequest: Promise<void>;
  /** Answers wait until this promise resolves. */
  gate: Promise<void>;
}

/** Starts a server with `POST /api/embed`. By default its 32-dimensional vectors count letters, so a text is nearest to itself. */
export async function startOllama(t: Owner, embed: (text: string) => number[] = letters): Promise<FakeOllama> {
  const firstRequest = Promise.withResolvers<void>();
  const fake: FakeOllama = Object.assign(
    await serveHttp(t, (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', async () => {
        if (fake.mode === 'down') {
          response.writeHead(404).end();
          return;
        }
        const { input } = JSON.parse(Buffer.concat(parts).toString()) as { input: string[] };
        for (const text of input) fake.received.set(text, (fake.received.get(text) ?? 0) + 1);
        firstRequest.resolve();
        await fake.gate;
        if (fake.mode === 'hung') return;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ embeddings: input.map(embed) }));
      });
    }),
    { mode: 'up' as const, received: new Map(), firstRequest: firstRequest.promise, gate: Promise.resolve() },
  );
  return fake;
}

/** Settings for vectors from a fake model, for tests that need vectors, but not meaningful ones. */
export async function fakeModel(t: Owner): Promise<Record<string, string>> {
  const { origin } = await startOllama(t);
  return { EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: origin, EMBEDDING_MODEL: 'letters' };
}

function letters(text: string): number[] {
  const vector = new Array<number>(32).fill(0);
  for (const character of text.toLowerCase()) {
    const index = character.charCodeAt(0) % 32;
    vector[index] = (vector[index] ?? 0) + 1;
  }
  return vector;
}
