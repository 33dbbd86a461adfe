import { createReadStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { damaged } from '../backup/archive.ts';
import type { TableFacts } from '../backup/manifest.ts';
import { restoreOriginal } from '../backup/originals.ts';
import { removeLeftovers, removeLeftoversIn, temporaryPath } from '../backup/own-files.ts';
import { copyRows } from './copy-text.ts';
import type { ColumnKind } from './move-table.ts';

/** Originals that were rows, on their way to files: their parts may come in any order. */
export interface OriginalParts {
  /** False for a table that has nothing to do with originals. */
  take(facts: TableFacts, lines: AsyncIterable<Uint8Array>): Promise<boolean>;
  /** Puts the files in their places, each checked by its size and hash. How many there are. */
  join(): Promise<number>;
  release(): Promise<void>;
}

const kinds: Readonly<Record<string, ColumnKind>> = { hash: 'text', staged_at: 'text', data: 'bytes' };

export function createOriginalParts(folder: string): OriginalParts {
  const holding = temporaryPath(folder);
  removeLeftovers(folder);
  const originals = new Map<number, { hash: string; bytes: number }>();
  const parts = new Map<number, number>();
  const rowsOf = async function* (facts: TableFacts, lines: AsyncIterable<Uint8Array>) {
    const columns = (facts.columns ?? []).map((name) => ({ name, kind: kinds[name] ?? 'number' }));
    for await (const row of copyRows(lines, { name: facts.name, columns })) {
      yield Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null]));
    }
  };
  return {
    async take(facts, lines) {
      if (facts.name === 'kb_originals') {
        for await (const { key, hash, bytes } of rowsOf(facts, lines)) {
          // Without a hash it was never accepted.
          if (typeof hash === 'string') originals.set(Number(key), { hash, bytes: Number(bytes) });
        }
        return true;
      }
      if (facts.name !== 'kb_original_parts') return false;
      await mkdir(holding, { recursive: true, mode: 0o700 });
      for await (const { original, part, data } of rowsOf(facts, lines)) {
        if (!(data instanceof Uint8Array)) throw damaged();
        await writeFile(join(holding, `${Number(original)}-${Number(part)}`), data, { mode: 0o600, flag: 'wx' });
        parts.set(Number(original), (parts.get(Number(original)) ?? 0) + 1);
      }
      return true;
    },
    async join() {
      removeLeftoversIn(folder);
      for (const [key, { hash, bytes }] of originals) {
        const count = parts.get(key) ?? 0;
        const member = { name: `documents/${hash}`, size: bytes, content: joined(holding, key, count) };
        await restoreOriginal(member, folder);
        for (let part = 0; part < count; part += 1) await rm(join(holding, `${key}-${part}`));
      }
      return originals.size;
    },
    release: () => rm(holding, { recursive: true, force: true }),
  };
}

async function* joined(folder: string, original: number, count: number): AsyncGenerator<Uint8Array> {
  for (let part = 0; part < count; part += 1) yield* createReadStream(join(folder, `${original}-${part}`));
}
