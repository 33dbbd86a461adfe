/**
 * Quality and safety of text extraction: `node bench/extraction/run.ts [--pages] [--bombs] [--show NAME]`.
 * Prints F1 of words for every page and tool, the means of both halves, and what bombs do to a serving process.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { decodeBytes } from '../../src/documents/charset.ts';
import { runBombs } from './run-bombs.ts';
import { scoreWords } from './score.ts';
import { tools } from './tools.ts';

const folder = new URL('./pages/', import.meta.url);
const options = process.argv.slice(2);
const show = options[options.indexOf('--show') + 1];

if (options.includes('--show') && show) showPage(show);
else {
  if (options.length === 0 || options.includes('--pages')) scorePages();
  if (options.length === 0 || options.includes('--bombs')) await runBombs();
}

function scorePages(): void {
  const names = pageNames();
  const rows = names.map((name, index) => ({ name, heldOut: index % 2 === 1, scores: scoresOf(name) }));
  const width = Math.max(...names.map((name) => name.length));
  console.log(
    `${'page'.padEnd(width)}  half      ${Object.keys(tools)
      .map((tool) => tool.padStart(11))
      .join('')}`,
  );
  for (const { name, heldOut, scores } of rows) {
    const cells = Object.values(scores).map((f1) => f1.toFixed(3).padStart(11));
    console.log(`${name.padEnd(width)}  ${heldOut ? 'held out' : 'tuned on'}  ${cells.join('')}`);
  }
  for (const [label, part] of [
    ['mean, tuned on', rows.filter((row) => !row.heldOut)],
    ['mean, held out', rows.filter((row) => row.heldOut)],
    ['mean, all', rows],
  ] as const) {
    const means = Object.keys(tools).map((tool) => {
      const sum = part.reduce((total, { scores }) => total + (scores[tool] ?? 0), 0);
      return (sum / part.length).toFixed(3).padStart(11);
    });
    console.log(`${`${label} (${part.length})`.padEnd(width + 10)}  ${means.join('')}`);
  }
}

function pageNames(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.html'))
    .map((file) => file.slice(0, -'.html'.length))
    .sort();
}

function pageOf(name: string): { html: string; expected: string } {
  const html = decodeBytes(readFileSync(new URL(`${name}.html`, folder)), 'text/html', 'html');
  return { html, expected: readFileSync(new URL(`${name}.txt`, folder), 'utf8') };
}

function scoresOf(name: string): Record<string, number> {
  const { html, expected } = pageOf(name);
  return Object.fromEntries(
    Object.entries(tools).map(([tool, extract]) => [tool, scoreWords(extract(html), expected).f1]),
  );
}

function showPage(name: string): void {
  const { html, expected } = pageOf(name);
  for (const [tool, extract] of Object.entries(tools)) {
    const text = extract(html);
    console.log(`--- ${tool} ${JSON.stringify(scoreWords(text, expected))}\n${text}`);
  }
}
