import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const releases = {
  '0.1.16': '@modelcontextprotocol/conformance',
  '0.2.0-alpha.12': 'conformance-next',
} as const;

export interface SuiteResult {
  /** From the suite's summary line. */
  passed: number;
  failed: number;
  /** Scenario names, in execution order. */
  scenarios: string[];
  checks: SuiteCheck[];
}

export interface SuiteCheck {
  scenario: string;
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  problem: string;
}

/** Runs the official suite against a server, in a separate process, and parses its results. */
export async function runSuite(
  release: keyof typeof releases,
  url: string,
  selection: readonly string[],
): Promise<SuiteResult> {
  const entry = fileURLToPath(new URL(`../../node_modules/${releases[release]}/dist/index.js`, import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'carrel-conformance-'));
  try {
    const output = await run([entry, 'server', '--url', url, ...selection, '-o', folder]);
    const scenarios = [...output.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(([, name = '']) => name);
    const total =
      /^Total: (\d+) passed, (\d+) failed/m.exec(output) ?? /^Passed: (\d+)\/\d+, (\d+) failed/m.exec(output);
    if (total === null) throw new Error(`The suite gave no total:\n${output}`);
    const checks = globSync('*/checks.json', { cwd: folder }).flatMap((file) => readChecks(folder, file));
    return { passed: Number(total[1]), failed: Number(total[2]), scenarios, checks };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function run(args: string[]): Promise<string> {
  return new Promise((resolve) => {
    // It exits with 1 when a check fails; the caller decides which failures are allowed.
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

function readChecks(folder: string, file: string): SuiteCheck[] {
  const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(file)?.[1] ?? file;
  const checks: { id: string; status: SuiteCheck['status']; errorMessage?: string }[] = JSON.parse(
    readFileSync(join(folder, file), 'utf8'),
  );
  return checks.map(({ id, status, errorMessage = '' }) => ({ scenario, id, status, problem: errorMessage }));
}
