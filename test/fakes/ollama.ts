import { type LoopbackServer, type Owner, serveHttp } from './loopback-server.ts';

export interface FakeOllama extends LoopbackServer {
  /** `down`: refuses. `slow`: never answers. */
  mode: 'up' | 'down' | 'slow';
}

/** `POST /api/embed` with vectors of 32 dimensions that count letters: the same text is nearest to itself. */
export async function startOllama(t: Owner): Promise<FakeOllama> {
  const fake: FakeOllama = Object.assign(
    await serveHttp(t, (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        if (fake.mode === 'slow') return;
        if (fake.mode === 'down') {
          response.writeHead(404).end();
          return;
        }
        const { input } = JSON.parse(Buffer.concat(parts).toString()) as { input: string[] };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ embeddings: input.map(letters) }));
      });
    }),
    { mode: 'up' as const },
  );
  return fake;
}

function letters(text: string): number[] {
  const vector = new Array<number>(32).fill(0);
  for (const character of text.toLowerCase()) {
    const place = character.charCodeAt(0) % 32;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}
