import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { carrelProgram } from '../support/child-program.ts';
import { size } from '../support/sizes.ts';
import { startStdioClient } from '../support/stdio-client.ts';
import { driveHttp, type FuzzedServer, startFuzzedServer } from './drive-http.ts';
import { driveStdio } from './drive-stdio.ts';
import { type FuzzRun, revisions } from './fuzz-run.ts';

/** T164: a sample of `npm run fuzz`. A million before a release. */
const messages = size({ quick: 60, full: 200, variable: 'CARREL_FUZZ_MESSAGES' });
const seed = Number(process.env['CARREL_FUZZ_SEED'] ?? 7);
const stallMsMax = 250;

/** On stdio, where each revision needs a program: the last with a handshake, the one with batches, and the one without a handshake. */
const stdioRevisions = size({ quick: 3, full: 5 }) === 5 ? revisions : ['2025-11-25', '2025-03-26', '2026-07-28'];

describe(`generated messages, seed ${seed}`, () => {
  let server: FuzzedServer;
  before(async () => {
    server = await startFuzzedServer({ seed });
  });
  after(() => server.stop());

  const runs = [
    ...stdioRevisions.map((revision) => ({ revision, transport: 'stdio', drive: driveStdio })),
    ...revisions.map((revision) => ({
      revision,
      transport: 'http',
      drive: (run: FuzzRun) => driveHttp(run, server),
    })),
  ];
  for (const { revision, transport, drive } of runs) {
    test(`${messages} over ${transport} in ${revision}: every request is answered, and no thread stalls`, async () => {
      const { faults, stalls } = await drive({ seed, first: 0, messages, revision, answerMs: 120_000 });
      assert.deepEqual(faults, []);
      assert.deepEqual(
        stalls.filter((ms) => ms > stallMsMax),
        [],
        'CPU time of the serving thread between two turns of its loop, in ms',
      );
    });
  }
});

test('found by seed 7, message 70: answers a request of 2026-07-28 with an extra member on stdio', async () => {
  const client = startStdioClient(carrelProgram, ['serve', '--transport', 'stdio']);
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta }, other: true });
  const { result } = await client.next(({ id }) => id === 1);
  assert.ok(Array.isArray(result?.['tools']));
  await client.end();
});
