import { readdirSync, readFileSync } from 'node:fs';
import { decodeBytes } from '../../src/documents/text/charset.ts';
import { scoreWords } from './score.ts';
import { tools } from './tools.ts';

export interface BenchPage {
  name: string;
  html: string;
  expected: string;
  /** Every second page by name: rules are tuned on the others only. */
  isHeldOut: boolean;
}

export interface ScoredPage {
  name: string;
  isHeldOut: boolean;
  /** F1 by tool. */
  scores: Record<string, number>;
}

const folder = new URL('./pages/', import.meta.url);

/** Loads all pages. Each file has its own charset; all tools get the same decoded text. */
export async function loadPages(): Promise<BenchPage[]> {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.html'))
    .map((file) => file.slice(0, -'.html'.length))
    .sort();
  return Promise.all(
    names.map(async (name, index) => ({
      name,
      html: await decodeBytes(readFileSync(new URL(`${name}.html`, folder)), 'text/html', 'html'),
      expected: readFileSync(new URL(`${name}.txt`, folder), 'utf8'),
      isHeldOut: index % 2 === 1,
    })),
  );
}

export function scorePage({ name, html, expected, isHeldOut }: BenchPage): ScoredPage {
  const scores = Object.entries(tools).map(([tool, extract]) => [tool, scoreWords(extract(html), expected).f1]);
  return { name, isHeldOut, scores: Object.fromEntries(scores) };
}
