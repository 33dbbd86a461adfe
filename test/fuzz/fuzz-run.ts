import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '../support/stdio-client.ts';
import type { ToolShape } from './generate.ts';

export interface FuzzRun {
  readonly seed: number;
  /** The index of the first message in the series. */
  readonly first: number;
  readonly messages: number;
  readonly revision: string;
  /** Timeout for an answer. */
  readonly answerMs: number;
}

export interface FuzzFault {
  readonly index: number;
  readonly what: string;
}

export interface FuzzOutcome {
  readonly faults: readonly FuzzFault[];
  /** Long stalls of the serving thread's event loop, in ms. */
  readonly stalls: readonly number[];
  readonly memory: { readonly now: number; readonly peak: number };
}

export const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2026-07-28'] as const;

/** Nothing leaves the machine, and no rate limit answers instead of a tool. */
export function environment(run: Pick<FuzzRun, 'seed'>): {
  env: Record<string, string>;
  stallFile: string;
  clear(): void;
} {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-fuzz-'));
  const stallFile = join(folder, `stalls-${run.seed}`);
  const probe = new URL('stall-probe.ts', import.meta.url).href;
  const env = {
    NODE_OPTIONS: `--import=${probe}`,
    CARREL_STALL_FILE: stallFile,
    EMBEDDING_PROVIDER: 'none',
    ENABLE_RERANKING: 'true',
    SEARCH_PROVIDER: 'searxng',
    SEARXNG_URL: 'http://127.0.0.1:9/',
    DUCKDUCKGO_URL: 'http://127.0.0.1:9/',
    SEARCH_FALLBACK: 'false',
    RATE_LIMIT_SEARCH: '100000',
    RATE_LIMIT_FETCH: '100000',
    RATE_LIMIT_NOTES: '100000',
    CARREL_WAITING_MAX: '100000',
  };
  return { env, stallFile, clear: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

export function readStalls(file: string, since: number): number[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => line.split(' ').map(Number)).flatMap(([when = 0, ms = 0]) => (when >= since ? [ms] : []));
}

export function toolsOf(answer: Message | undefined): ToolShape[] {
  const tools = answer?.result?.['tools'];
  if (!Array.isArray(tools) || tools.length === 0) throw new Error('no tools were listed');
  return tools;
}
