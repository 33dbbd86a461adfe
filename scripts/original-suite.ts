/**
 * Runs the end-to-end tests of mcp-context-server against Carrel, which has the same context tools. The tests are not part of this
 * repository: pip downloads them from PyPI.
 *
 *     npm run build && node scripts/original-suite.ts            all tests, and the expected failures
 *     node scripts/original-suite.ts --server COMMAND            against another command that speaks MCP on stdio
 *
 * Needs Python 3.12 with venv (the package rejects 3.13), access to a package registry and about 400 MB. The first run takes two
 * minutes, later ones a minute. The Python environment stays in the tests' cache folder. The suite normally starts its own server
 * and creates its own tables; our driver starts Carrel instead and skips the tables. Exits with 1 if a test fails that is not in
 * `expectedFailures`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cacheFolder, locked } from '../test/support/cached-install.ts';

const version = '2.2.2';

/** Tests that may fail, and why. */
const expectedFailures: Readonly<Record<string, string>> = {
  server_version_is_project_version: 'it expects the version of its own package',
  'Chunking Creates Multiple Embeddings':
    'it expects the vectors of a long text within a second; Carrel creates them in the background',
};

/** Our driver, which runs in the suite's Python environment. */
const driverText = `
import asyncio, json, os, sys
from pathlib import Path
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
import tests.integration.sqlite.test_real_server as suite

database, results, command, *arguments = sys.argv[1:]

def connect(_script):
    return Client(StdioTransport(command, arguments, env=dict(os.environ)))

suite.Client = connect
suite.MCPServerIntegrationTest._initialize_database = lambda self: None
run = suite.MCPServerIntegrationTest(temp_db_path=Path(database))
asyncio.run(run.run_all_tests())
found = [{'name': name, 'passed': bool(passed), 'details': str(details)} for name, passed, details in run.test_results]
Path(results).write_text(json.dumps(found), encoding='utf-8')
`;

const { values: options } = parseArgs({ options: { server: { type: 'string' } } });
const program = fileURLToPath(new URL('../bin/carrel.js', import.meta.url));
const command = options.server?.split(/\s+/) ?? [process.execPath, program, 'context'];

const root = cacheFolder(`original-suite-${version}`);
mkdirSync(root, { recursive: true });
const { python, suite } = locked(`${root}.lock`, prepare);
const results = runSuite();
process.exitCode = report(results) ? 0 : 1;

function prepare(): { python: string; suite: string } {
  const venv = join(root, 'venv');
  const venvPython = join(venv, 'bin/python');
  const pip = (...args: string[]) =>
    execFileSync(venvPython, ['-m', 'pip', '--disable-pip-version-check', '--quiet', ...args], { stdio: 'inherit' });
  const marker = join(root, 'complete');
  if (!existsSync(marker)) {
    rmSync(venv, { recursive: true, force: true });
    execFileSync(findPython(), ['-m', 'venv', venv], { stdio: 'inherit' });
    const requirement = `mcp-context-server==${version}`;
    pip('install', requirement, 'pytest', 'pytest-asyncio');
    pip('download', '--no-deps', '--no-binary', 'mcp-context-server', requirement, '--dest', root);
    const archive = readdirSync(root).find((name) => name.endsWith('.tar.gz'));
    execFileSync('tar', ['xzf', join(root, archive ?? '')], { cwd: root });
    writeFileSync(marker, '');
  }
  const folder = readdirSync(root, { withFileTypes: true }).find((each) => each.isDirectory() && each.name !== 'venv');
  return { python: venvPython, suite: join(root, folder?.name ?? '') };
}

function findPython(): string {
  const test = 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 12))';
  const names = ['python3.12', 'python3', '/usr/bin/python3'];
  const found = names.find((name) => spawnSync(name, ['-c', test], { stdio: 'ignore' }).status === 0);
  if (found === undefined) throw new Error('Python 3.12 with venv was not found. Install it and try again.');
  return found;
}

interface Result {
  readonly name: string;
  readonly passed: boolean;
  readonly details: string;
}

function runSuite(): Result[] {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-original-suite-'));
  try {
    const driver = join(folder, 'driver.py');
    const results = join(folder, 'results.json');
    writeFileSync(driver, driverText);
    execFileSync(python, [driver, join(folder, 'context.db'), results, ...command], {
      cwd: suite,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        PYTHONPATH: suite,
        PYTHONUTF8: '1',
        CARREL_HOME: folder,
        // The suite's own wrapper does the same if no model server is running.
        ENABLE_SUMMARY_GENERATION: 'false',
      },
    });
    return JSON.parse(readFileSync(results, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(all: readonly Result[]): boolean {
  const unexpected = all.filter(({ name, passed }) => !passed && !(name in expectedFailures));
  for (const { name, passed, details } of all) {
    if (passed) continue;
    const reason = expectedFailures[name];
    console.log(`${reason === undefined ? 'FAILED' : 'expected to fail'} ${name}: ${reason ?? details}`);
  }
  console.log(`${all.filter(({ passed }) => passed).length} of ${all.length} passed`);
  return all.length > 0 && unexpected.length === 0;
}
