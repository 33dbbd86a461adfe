/**
 * Measures the memory of `carrel serve` with both models: when idle, while texts are embedded, during searches by three clients at
 * a time, and a minute later. Needs Linux and a build.
 *
 *     node bench/footprint/run.ts --data ../shared/data [--passages 6800] [--searches 360]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { carrelProgram, startListening, withModels } from '../../test/support/child-program.ts';
import { peakMegabytes, residentMegabytes } from '../processes.ts';
import { loadDataSet } from '../quality/data-set.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data' },
    passages: { type: 'string', default: '6800' },
    searches: { type: 'string', default: '360' },
  },
});
const clientCount = 3;
/** Abstracts per note: together as long as a page or two. */
const notePassages = 10;

const sets = ['scifact', 'cranfield'].flatMap((name) => loadDataSet(values.data, name) ?? []);
const abstracts = sets.flatMap(({ passages }) => passages.map(({ title, text }) => `# ${title}\n\n${text}\n`));
const questions = sets.flatMap(({ queries }) => queries.map(({ text }) => text));
if (abstracts.length === 0) throw new Error(`scifact is not in ${values.data}`);

const program = await startListening(carrelProgram, ['serve'], withModels);
const pid = program.process.pid ?? 0;
try {
  const clients = await Promise.all(Array.from({ length: clientCount }, connect));
  const [client] = clients;
  if (client === undefined) throw new Error('no client');
  report('idle');

  let next = 0;
  while ((await statusOf(client)).chunks < Number(values.passages) && next < abstracts.length) {
    await call(client, 'kb_addnote', { text: abstracts.slice(next, next + notePassages).join('\n') });
    next += notePassages;
  }
  await search(clients, 60);
  report('after 60 searches while texts are embedded');

  for (;;) {
    const { queue, unembedded = 0 } = await statusOf(client);
    if (unembedded + queue.queued + queue.processing === 0) break;
    await delay(1_000);
  }
  report(`all embedded, ${(await statusOf(client)).chunks} passages`);

  await search(clients, Number(values.searches));
  report(`after ${values.searches} more searches`);
  await delay(65_000);
  report('a minute later');
} finally {
  await program.stop();
}

async function connect(): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(program.url)));
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { structuredContent, isError } = await client.callTool({ name, arguments: args });
  if (isError) throw new Error(`${name} failed: ${JSON.stringify(structuredContent)}`);
  return structuredContent as Record<string, unknown>;
}

async function statusOf(client: Client) {
  const status: unknown = await call(client, 'kb_status', {});
  return status as { chunks: number; queue: { queued: number; processing: number }; unembedded?: number };
}

async function search(clients: readonly Client[], count: number): Promise<void> {
  let asked = 0;
  const askNext = async (client: Client) => {
    while (asked < count) {
      const query = questions[(7 * asked++) % questions.length];
      await call(client, 'kb_search', { query });
    }
  };
  await Promise.all(clients.map(askNext));
}

function report(moment: string): void {
  console.log(`${residentMegabytes(pid).toFixed(0)} MB, peak ${peakMegabytes(pid).toFixed(0)} MB: ${moment}`);
}
