/**
 * Measures quality and safety of text extraction: `node bench/extraction/run.ts [--pages] [--bombs] [--show NAME]`. Prints the word-level
 * F1 for every page and tool, with means over the pages that rules were tuned on and over the held-out ones. Then reads
 * decompression bombs and other hostile documents, and prints the outcome of each.
 */
import { loadPages, type ScoredPage, scorePage } from './pages.ts';
import { runBombs } from './run-bombs.ts';
import { scoreWords } from './score.ts';
import { tools } from './tools.ts';

const options = process.argv.slice(2);
const show = options[options.indexOf('--show') + 1];

if (options.includes('--show') && show) await showPage(show);
else {
  if (options.length === 0 || options.includes('--pages')) await printScores();
  if (options.length === 0 || options.includes('--bombs')) await runBombs();
}

async function printScores(): Promise<void> {
  const rows = (await loadPages()).map(scorePage);
  const width = Math.max(...rows.map(({ name }) => name.length));
  const head = Object.keys(tools).map((tool) => tool.padStart(13));
  console.log(`${'page'.padEnd(width)}  half      ${head.join('')}`);
  for (const { name, isHeldOut, scores } of rows) {
    const cells = Object.values(scores).map((f1) => f1.toFixed(3).padStart(13));
    console.log(`${name.padEnd(width)}  ${isHeldOut ? 'held out' : 'tuned on'}  ${cells.join('')}`);
  }
  const groups: [string, ScoredPage[]][] = [
    ['mean, tuned on', rows.filter((row) => !row.isHeldOut)],
    ['mean, held out', rows.filter((row) => row.isHeldOut)],
    ['mean, all', rows],
  ];
  for (const [label, group] of groups) {
    const means = Object.keys(tools).map((tool) => meanOf(group, tool).toFixed(3).padStart(13));
    console.log(`${`${label} (${group.length})`.padEnd(width + 10)}  ${means.join('')}`);
  }
}

function meanOf(rows: ScoredPage[], tool: string): number {
  return rows.reduce((total, { scores }) => total + (scores[tool] ?? 0), 0) / rows.length;
}

async function showPage(name: string): Promise<void> {
  const page = (await loadPages()).find((candidate) => candidate.name === name);
  if (!page) throw new Error(`No page is named ${name}.`);
  for (const [tool, extract] of Object.entries(tools)) {
    const text = extract(page.html);
    console.log(`--- ${tool} ${JSON.stringify(scoreWords(text, page.expected))}\n${text}`);
  }
}
