/**
 * Sends generated messages to the built program: `node test/fuzz/run.ts [--messages 1000000] [--seed 1] [--block 20000]`.
 * Every block uses a fresh program; blocks alternate between stdio and HTTP and between revisions. Prints a line per block,
 * with the command that repeats a failed one. Exits with 1 if any failed.
 */
import { parseArgs } from 'node:util';
import { driveHttp, startFuzzedServer } from './drive-http.ts';
import { driveStdio } from './drive-stdio.ts';
import { type FuzzOutcome, type FuzzRun, revisions } from './fuzz-run.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    block: { type: 'string', default: '20000' },
    transport: { type: 'string' },
    revision: { type: 'string' },
    first: { type: 'string', default: '0' },
  },
});
const [messages, seed, block, first] = [values.messages, values.seed, values.block, values.first].map(Number) as [
  ...[number, number, number, number],
];
const stallMsMax = 250;
const total = { sent: 0, faults: 0, stalls: 0, longestMs: 0 };

for (let sent = 0, turn = 0; sent < messages; sent += block, turn += 1) {
  const transport = values.transport ?? (turn % 2 === 0 ? 'stdio' : 'http');
  const revision = values.revision ?? revisions[(turn >> 1) % revisions.length] ?? '';
  const run: FuzzRun = {
    ...{ seed, first: first + sent, messages: Math.min(block, messages - sent) },
    ...{ revision, answerMs: 120_000 },
  };
  const began = Date.now();
  const { faults, stalls, memory } = await (transport === 'stdio' ? driveStdio(run) : driveFreshServer(run));
  const longestMs = Math.max(0, ...stalls);
  total.sent += run.messages;
  total.faults += faults.length;
  total.stalls += stalls.filter((ms) => ms > stallMsMax).length;
  total.longestMs = Math.max(total.longestMs, longestMs);
  const rate = Math.round((run.messages * 1000) / (Date.now() - began));
  const peak = Math.round(memory.peak / 1e6);
  process.stdout.write(
    `${`${transport} ${revision} ${run.first}+${run.messages}: ${rate}/s, longest ${longestMs} ms, ${peak} MB`}\n`,
  );
  for (const { index, what } of faults) {
    process.stdout.write(`${`FAULT at ${index}: ${what}`}\n`);
    const same = `--seed ${seed} --first ${index} --messages 64 --transport ${transport} --revision ${revision}`;
    process.stdout.write(`${`  node test/fuzz/run.ts ${same}`}\n`);
  }
}
process.stdout.write(`${JSON.stringify({ seed, ...total })}\n`);
if (total.faults + total.stalls > 0) process.exitCode = 1;

async function driveFreshServer(run: FuzzRun): Promise<FuzzOutcome> {
  const server = await startFuzzedServer(run);
  try {
    return await driveHttp(run, server);
  } finally {
    await server.stop();
  }
}
