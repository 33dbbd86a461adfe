/**
 * Four clients write while their shared process is killed repeatedly, every third time with SIGTERM. Compares acknowledged
 * writes with stored ones; exits with 1 if a write is missing or stored twice, or an answer came twice.
 *
 *     npm run build && node bench/sharing/kills.ts [--kills 12]
 *
 * Kills are more than twelve seconds apart: relays give up if their process ends more than five times in a minute.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { announcedOwners } from '../../src/sharing/owner-files.ts';
import { type Client, startClient } from './client.ts';

const { values: options } = parseArgs({ options: { kills: { type: 'string', default: '12' } } });
const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
const acknowledged: string[] = [];
const interrupted: string[] = [];
let isStopping = false;

try {
  const clients: Client[] = [];
  for (let count = 0; count < 4; count += 1) clients.push(await startClient(folder, ['--toolsets', 'research']));
  const writing = clients.map(writeUntilStopped);
  for (let kill = 1; kill <= Number(options.kills); kill += 1) {
    await delay(12_500 + 1_500 * Math.random());
    for (const { announcement } of announcedOwners(join(folder, 'data/run'))) {
      process.kill(announcement.pid, kill % 3 === 0 ? 'SIGTERM' : 'SIGKILL');
    }
  }
  await delay(3_000);
  isStopping = true;
  await Promise.all(writing);
  const stored = clients[0] ? await listTitles(clients[0]) : [];
  const distinct = new Set(stored);
  const missing = acknowledged.filter((title) => !distinct.has(title)).length;
  const duplicates = stored.length - distinct.size;
  const unexpected = clients.flatMap((client) => client.unexpected).length;
  const completed = interrupted.filter((title) => distinct.has(title)).length;
  console.log(`${acknowledged.length} acknowledged, ${missing} of them missing, ${duplicates} stored twice`);
  console.log(`${interrupted.length} interrupted, ${completed} of them completed; ${unexpected} unexpected answers`);
  const codes = await Promise.all(clients.map((client) => client.end()));
  if (missing + duplicates + unexpected > 0 || codes.some((code) => code !== 0)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function writeUntilStopped(client: Client, number: number): Promise<void> {
  for (let round = 0; !isStopping; round += 1) {
    const batch = [0, 1, 2, 3].map((index) => `${number}.${round}.${index}`);
    await Promise.all(batch.map((title) => write(client, title)));
  }
}

async function write(client: Client, title: string): Promise<void> {
  const { result, error } = await client.request('tools/call', {
    name: 'save_note',
    arguments: { title, content: 'x' },
  });
  if (result && result.isError !== true) acknowledged.push(title);
  else if (error?.data?.code === 'interrupted') interrupted.push(title);
  else throw new Error(`unexpected answer: ${JSON.stringify(result ?? error)}`);
}

async function listTitles(client: Client): Promise<string[]> {
  const titles: string[] = [];
  for (let offset = 0; ; offset += 100) {
    const { result } = await client.request('tools/call', { name: 'list_notes', arguments: { limit: 100, offset } });
    const notes = result?.structuredContent?.['notes'] as { title: string }[];
    titles.push(...notes.map(({ title }) => title));
    if (notes.length < 100) return titles;
  }
}
