/**
 * Measures how often the chunker keeps an answer in one chunk: `node bench/quality/chunks.ts --data ../shared/data`. The answers
 * are the exact spans of the chroma-chunking set. The baseline splits at every 1,200 characters.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Span } from '../../src/search/chunking/chunk.ts';
import { chunkText } from '../../src/search/chunking/chunk-text.ts';

const { values: options } = parseArgs({ options: { data: { type: 'string', default: '../shared/data' } } });
const unitsMax = 1200;

const documents = new Map(rows<{ id: string; text: string }>('documents').map(({ id, text }) => [id, text]));
const spans = rows<{ doc_id: string } & Span>('spans');
printFigures('our chunker', (text) => chunkText(text, unitsMax));
printFigures('split every 1,200 characters', (text) =>
  Array.from({ length: Math.ceil(text.length / unitsMax) }, (_, number) => ({
    start: number * unitsMax,
    end: Math.min(text.length, (number + 1) * unitsMax),
  })),
);

function printFigures(label: string, chunk: (text: string) => Span[]): void {
  const started = performance.now();
  const chunks = new Map([...documents].map(([id, text]) => [id, chunk(text)]));
  const elapsedMs = performance.now() - started;
  const all = [...chunks.values()].flat();
  const unbroken = spans.filter(({ doc_id, start, end }) =>
    chunks.get(doc_id)?.some((chunk) => chunk.start <= start && chunk.end >= end),
  );
  const meanUnits = all.reduce((sum, { start, end }) => sum + end - start, 0) / all.length;
  console.log(
    `${label}: ${all.length} chunks of ${meanUnits.toFixed(0)} characters, ` +
      `${((100 * unbroken.length) / spans.length).toFixed(1)} % of ${spans.length} answers unbroken, ${elapsedMs.toFixed(0)} ms`,
  );
}

function rows<T>(name: string): T[] {
  const lines = readFileSync(join(options.data, 'chroma-chunking', `${name}.jsonl`), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line): T => JSON.parse(line));
}
