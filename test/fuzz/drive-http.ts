import { carrelProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import {
  exchange,
  jsonHeaders,
  keepAliveAgent,
  modernRequest,
  openSession,
  post,
  type RawAnswer,
} from '../support/raw-http.ts';
import { environment, type FuzzFault, type FuzzOutcome, type FuzzRun, readStalls, toolsOf } from './fuzz-run.ts';
import { type Generated, generate } from './generate.ts';
import { createRandom } from './random.ts';

const clients = 16;

export interface FuzzedServer {
  readonly program: ListeningProgram;
  readonly stallFile: string;
  stop(): Promise<void>;
}

export async function startFuzzedServer(run: Pick<FuzzRun, 'seed'>): Promise<FuzzedServer> {
  const { env, stallFile, clear } = environment(run);
  const program = await startListening(carrelProgram, ['serve'], env);
  return {
    program,
    stallFile,
    stop: async () => {
      await program.stop();
      clear();
    },
  };
}

export async function driveHttp(run: FuzzRun, { program, stallFile }: FuzzedServer): Promise<FuzzOutcome> {
  const { seed, first, messages, revision } = run;
  const agent = keepAliveAgent(clients);
  const faults: FuzzFault[] = [];
  try {
    const modern = revision === '2026-07-28';
    const listing = modernRequest('tools/list');
    const listed = await post(program.url, listing.message, listing.headers);
    const tools = toolsOf(listed.messages[0]);
    let next = first;
    const began = Date.now();
    await Promise.all(Array.from({ length: clients }, client));
    return { faults, stalls: readStalls(stallFile, began), memory: program.memory() };

    async function client(): Promise<void> {
      const session = modern ? undefined : await openSession(program.url, revision, { agent });
      while (next < first + messages && faults.length === 0) {
        const index = next;
        next += 1;
        const generated = generate(seed, index, { tools, revision });
        const headers =
          session === undefined ? modernHeaders(generated, index) : { ...jsonHeaders, ...session.headers };
        const signal = AbortSignal.timeout(run.answerMs);
        const what = await exchange(program.url, { headers, body: generated.bytes, agent, signal }).then(
          (answer) => faultOf(answer, generated),
          (error) => `no answer: ${error}`,
        );
        if (what !== undefined) faults.push({ index, what: `${what}; ${program.stderrText().slice(-500)}` });
      }
    }

    function modernHeaders({ method, name }: Generated, index: number): Record<string, string> {
      const random = createRandom(seed, -index - 1);
      const clean = (text: string) =>
        Buffer.from(text.slice(0, 200))
          .toString('latin1')
          .replace(/[^\x20-\x7e]/g, '?');
      const headers: Record<string, string> = {
        ...jsonHeaders,
        'mcp-protocol-version': revision,
        'mcp-method': clean(method),
      };
      if (name !== undefined) headers['mcp-name'] = clean(name);
      if (random.chance(0.02)) delete headers[random.pick(Object.keys(headers))];
      return headers;
    }
  } finally {
    agent.destroy();
  }
}

/** Every exchange must end with one of our statuses; an understood request must return its id. */
function faultOf({ status, messages }: RawAnswer, { ids }: Generated): string | undefined {
  if (status >= 500) return `status ${status}`;
  if (status !== 200) return status === 202 && ids.length > 0 ? 'a request was taken for a notification' : undefined;
  const missing = ids.map((id) => JSON.stringify(id));
  for (const { id } of messages) {
    const at = missing.indexOf(JSON.stringify(id));
    if (at >= 0) missing.splice(at, 1);
  }
  return missing.length === 0 ? undefined : `unanswered: ${missing.join(' ')}`;
}
