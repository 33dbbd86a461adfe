import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AddEvent } from '../../src/cli/add/add-event.ts';
import type { Owner } from '../fakes/loopback-server.ts';
import { carrelProgram, startProgram } from './child-program.ts';

export interface AddProgram {
  readonly process: ReturnType<typeof startProgram>['process'];
  readonly exited: Promise<number | null>;
  stderrText(): string;
  /** Every event received so far. */
  readonly events: readonly AddEvent[];
  /** Waits for the next matching event after the last one that this returned. */
  next(matches: (event: AddEvent) => boolean): Promise<AddEvent>;
  inStep(): Promise<AddEvent>;
}

/** Starts `carrel add --json` and reads its events. */
export function startAdd(t: Owner, args: readonly string[], dataDir: string, env: Record<string, string>): AddProgram {
  const program = startProgram(
    carrelProgram,
    ['add', ...args, '--json'],
    { EMBEDDING_PROVIDER: 'none', ...env },
    { folder: '/', dataDir },
  );
  t.after(async () => {
    program.process.kill('SIGKILL');
    await program.exited;
  });
  const events: AddEvent[] = [];
  let cursor = 0;
  let check = () => {};
  let isEnded = false;
  const lines = createInterface({ input: program.process.stdout });
  lines.on('line', (line) => {
    events.push(JSON.parse(line));
    check();
  });
  lines.on('close', () => {
    isEnded = true;
    check();
  });
  const next: AddProgram['next'] = (matches) =>
    new Promise((resolve, reject) => {
      check = () => {
        for (; cursor < events.length; cursor += 1) {
          const event = events[cursor];
          if (event === undefined || !matches(event)) continue;
          cursor += 1;
          check = () => {};
          resolve(event);
          return;
        }
        if (isEnded) reject(new Error(`carrel add ended: ${program.stderrText()} ${JSON.stringify(events.slice(-5))}`));
      };
      check();
    });
  const { process: child, exited, stderrText } = program;
  return { process: child, exited, stderrText, events, next, inStep: () => next(({ event }) => event === 'in_step') };
}

/** Returns the SHA-256 of each file in a folder, by path. */
export function hashesOf(folder: string): Record<string, string> {
  const hashes: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith('.')) continue;
    const path = join(entry.parentPath, entry.name);
    hashes[path] = createHash('sha256').update(readFileSync(path)).digest('hex');
  }
  return hashes;
}

/** Returns the hash of each document in a collection, by source path. */
export async function documentsOf(api: string, collection: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (let offset = 0; ; offset += 100) {
    const answer = await fetch(`${api}/documents?tags=collection:${collection}&limit=100&offset=${offset}`);
    assert.equal(answer.status, 200);
    const page = (await answer.json()) as {
      documents: { source_path: string; content_hash: string }[];
      total: number;
    };
    for (const { source_path, content_hash } of page.documents) {
      assert.equal(Object.hasOwn(hashes, source_path), false, `${source_path} has two documents`);
      hashes[source_path] = content_hash;
    }
    if (offset + 100 >= page.total) return hashes;
  }
}
