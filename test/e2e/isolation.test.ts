import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { echoProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import {
  exchange,
  keepAliveAgent,
  modernRequest,
  openSession,
  openStream,
  type RawAnswer,
} from '../support/raw-http.ts';
import { size } from '../support/sizes.ts';

const clients = 50;
const callsPerClient = size({ quick: 15, full: 400 });
const callsWithoutSession = size({ quick: 10, full: 50 });

/** Descriptions of messages that a client received but did not own. */
type Strays = string[];

/**
 * T031, T032: all clients use the ids 0, 1, 2 … and the progress token 7 at the same time, on fast and slow tools. Everything
 * that a client receives must carry its own marker.
 */
describe('answers and notifications never reach another client (T031, T032)', { timeout: 180_000 }, () => {
  let program: ListeningProgram;
  before(async () => {
    program = await startListening(echoProgram);
  });
  after(() => program.stop());

  it(`in ${clients * callsPerClient} calls of ${clients} clients with sessions`, async () => {
    const strays = await Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        const agent = keepAliveAgent(4);
        const session = await openSession(program.url, '2025-11-25', { agent });
        const stream = await openStream(program.url, session.headers);
        const found = await callAll(client, callsPerClient, (id, name, args) =>
          session.call(id, name, args, name === 'count' ? { progressToken: 7 } : undefined),
        );
        stream.close();
        agent.destroy();
        return [...found, ...stream.messages().map((message) => `on the stream: ${JSON.stringify(message)}`)];
      }),
    );
    assert.deepEqual(strays.flat(), []);
  });

  it(`in ${clients * callsWithoutSession} calls of ${clients} clients without sessions (2026-07-28)`, async () => {
    const strays = await Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        const agent = keepAliveAgent(2);
        const found = await callAll(client, callsWithoutSession, (id, name, args) => {
          const meta = name === 'count' ? { _meta: { progressToken: 7 } } : {};
          const { headers, message } = modernRequest('tools/call', { name, arguments: args, ...meta }, id);
          return exchange(program.url, { headers, body: JSON.stringify(message), agent });
        });
        agent.destroy();
        return found;
      }),
    );
    assert.deepEqual(strays.flat(), []);
  });
});

type Call = (id: number, name: string, args: object) => Promise<RawAnswer>;

/** Keeps four calls in flight. The order of tools differs by client, so that slow and fast ones mix. */
async function callAll(client: number, count: number, call: Call): Promise<Strays> {
  const strays: Strays = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let id = next++; id < count; id = next++) {
      const marker = `client ${client} call ${id}`;
      const kind = (client + id) % 10;
      if (kind === 0) check(await call(id, 'slow', { marker, delay_ms: id % 7 }), id, { marker }, marker, 0);
      else if (kind === 1) check(await call(id, 'count', { marker, steps: 3 }), id, { marker }, marker, 3);
      else check(await call(id, 'echo', { text: marker }), id, { text: marker }, marker, 0);
    }
  };
  const check = ({ status, messages }: RawAnswer, id: number, data: object, marker: string, steps: number): void => {
    const answers = messages.filter((message) => !('method' in message));
    const progress = messages.filter((message) => message['method'] === 'notifications/progress');
    const [answer] = answers;
    const own = JSON.stringify(answer?.result?.['structuredContent']) === JSON.stringify(data);
    if (status !== 200 || answers.length !== 1 || answer?.['id'] !== id || !own) {
      strays.push(`${marker}: got ${status} ${JSON.stringify(messages).slice(0, 300)}`);
    }
    const foreign = progress.filter((message) => JSON.stringify(message).includes(`"${marker}"`) === false);
    if (foreign.length > 0 || progress.length !== steps || messages.length !== steps + 1) {
      strays.push(`${marker}: got ${JSON.stringify(progress).slice(0, 300)}`);
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return strays;
}
