import { setTimeout as delay } from 'node:timers/promises';
import { carrelProgram } from '../support/child-program.ts';
import { type Message, startStdioClient } from '../support/stdio-client.ts';
import { environment, type FuzzFault, type FuzzOutcome, type FuzzRun, readStalls, toolsOf } from './fuzz-run.ts';
import { generate } from './generate.ts';

/** Sent together; then all must be answered. */
const atOnce = 64;

export async function driveStdio(run: FuzzRun): Promise<FuzzOutcome> {
  const { seed, first, messages, revision } = run;
  const { env, stallFile, clear } = environment(run);
  // Reranking does not depend on the transport. The runs over HTTP include it.
  const withoutReranking = { ...env, ENABLE_RERANKING: 'false' };
  const client = startStdioClient(carrelProgram, ['serve', '--transport', 'stdio'], withoutReranking);
  const faults: FuzzFault[] = [];
  try {
    const tools = toolsOf(await discover());
    const began = Date.now();
    for (let start = first; start < first + messages && faults.length === 0; start += atOnce) {
      await sendBlock(start, Math.min(atOnce, first + messages - start));
    }
    return { faults, stalls: readStalls(stallFile, began), memory: client.program.memory() };

    async function sendBlock(start: number, count: number): Promise<void> {
      client.messages.length = 0;
      const missing = new Map<string, number>();
      for (let index = start; index < start + count; index += 1) {
        const { bytes, ids } = generate(seed, index, { tools, revision });
        for (const id of ids) missing.set(JSON.stringify(id), (missing.get(JSON.stringify(id)) ?? 0) + 1);
        client.write(Buffer.concat([bytes, Buffer.from('\n')]));
      }
      const cursor = { at: 0 };
      const ended = client.program.exited.then(() => 'ended' as const);
      const late = delay(run.answerMs, 'late' as const, { ref: false });
      for (;;) {
        settle(client.messages, cursor, missing);
        if (missing.size === 0) return;
        const outcome = await Promise.race([ended, late, delay(2, 'look' as const)]);
        if (outcome === 'look') continue;
        const what = outcome === 'ended' ? 'the program ended' : `unanswered: ${[...missing.keys()].join(' ')}`;
        faults.push({ index: start, what: `${what}; ${client.program.stderrText().slice(-500)}` });
        return;
      }
    }
  } finally {
    client.program.process.stdin.end();
    await client.program.stop();
    clear();
  }

  async function discover(): Promise<Message> {
    if (revision !== '2026-07-28') {
      await client.handshake(revision);
      return client.request('tools', 'tools/list');
    }
    const meta = {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    return client.request('tools', 'tools/list', { _meta: meta });
  }
}

/** Checks off the answers received since the last call. */
function settle(messages: readonly unknown[], cursor: { at: number }, missing: Map<string, number>): void {
  for (; cursor.at < messages.length; cursor.at += 1) {
    const come = messages[cursor.at];
    for (const message of Array.isArray(come) ? come : [come]) {
      const key = JSON.stringify(Object(message)['id']);
      const left = (missing.get(key) ?? 0) - 1;
      if (left > 0) missing.set(key, left);
      else missing.delete(key);
    }
  }
}
