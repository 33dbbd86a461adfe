import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { HttpService } from '../../src/mcp/http/service.ts';
import { carrelProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { skipped } from './exclusions.ts';
import { startFixtureServer } from './fixture-server.ts';
import { runSuite, type SuiteResult } from './run-suite.ts';

describe('the official conformance suite against our transports ', () => {
  let fixture: HttpService;
  let url: string;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carrel-conformance-tasks-'));
    fixture = await startFixtureServer(folder);
    // The rebinding scenario needs a server addressed as localhost.
    url = fixture.url.replace('127.0.0.1', 'localhost');
  });
  after(async () => {
    await fixture.close(0);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  it('0.1.16 --suite all: every check of every scenario', async () => {
    const result = await runSuite('0.1.16', url, ['--suite', 'all']);
    assert.deepEqual(problems(result), []);
    // 46 instead of 44: two checks of resumed streams pass here and are warnings elsewhere.
    assert.deepEqual([result.scenarios.length, result.passed, result.failed], [32, 46, 0]);
  });

  it('0.2.0-alpha.12 --requirements 2025-11-25: every check', async () => {
    const result = await runSuite('0.2.0-alpha.12', url, ['--requirements', '2025-11-25']);
    assert.deepEqual(problems(result), []);
    assert.deepEqual([result.scenarios.length, result.passed, result.failed], [33, 83, 0]);
  });

  it('0.2.0-alpha.12 --requirements 2026-07-28: every check', async () => {
    const result = await runSuite('0.2.0-alpha.12', url, ['--requirements', '2026-07-28']);
    assert.deepEqual(problems(result), []);
    assert.deepEqual(withStatus(result, 'SKIPPED'), keysOf(skipped));
    assert.deepEqual([result.scenarios.length, result.passed, result.failed], [50, 194, 0]);
  });
});

// The other scenarios without fixtures test the handshake and the transport alone, which are the same above.
describe('the scenarios that need no fixtures, against the product itself ', () => {
  const scenarios = ['tools-list', 'resources-list'];
  let program: ListeningProgram;

  before(async () => {
    program = await startListening(carrelProgram, ['serve']);
  });
  after(async () => {
    assert.equal(await program.stop(), 0);
  });

  for (const scenario of scenarios) {
    it(scenario, async () => {
      const result = await runSuite('0.1.16', program.url, ['--scenario', scenario]);
      assert.deepEqual(problems(result), []);
      assert(result.passed > 0 && result.failed === 0);
    });
  }
});

function problems(result: SuiteResult): string[] {
  return [...withStatus(result, 'FAILURE'), ...withStatus(result, 'WARNING')].map((key) => explain(result, key));
}

function withStatus({ checks }: SuiteResult, status: string): string[] {
  const found = checks.filter((check) => check.status === status);
  return found.map(({ scenario, id }) => `${scenario}: ${id}`).sort();
}

function keysOf(exclusions: typeof skipped): string[] {
  return exclusions.flatMap(({ scenario, checks }) => checks.map((id) => `${scenario}: ${id}`)).sort();
}

function explain({ checks }: SuiteResult, key: string): string {
  const check = checks.find(({ scenario, id, status }) => `${scenario}: ${id}` === key && status !== 'SUCCESS');
  return `${key} (${check?.problem ?? ''})`;
}
