import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { HttpService } from '../../src/mcp/http/service.ts';
import { carrelProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { type Exclusion, excluded, skipped } from './exclusions.ts';
import { startFixtureServer } from './fixture-server.ts';
import { runSuite, type SuiteResult } from './run-suite.ts';

describe('the official conformance suite against our transports ', () => {
  let fixture: HttpService;
  let url: string;

  before(async () => {
    fixture = await startFixtureServer();
    // The rebinding scenario wants a server that is addressed as localhost.
    url = fixture.url.replace('127.0.0.1', 'localhost');
  });
  after(() => fixture.close(0));

  it('0.1.16 --suite all: every check of every scenario', async () => {
    const result = await runSuite('0.1.16', url, ['--suite', 'all']);
    assert.deepEqual(unexpected(result, []), []);
    // The two checks of resuming a stream that others pass with warnings are passed here, hence 46 rather than 44.
    assert.deepEqual([result.scenarios.length, result.passed, result.failed], [32, 46, 0]);
  });

  it('0.2.0-alpha.12 --requirements 2025-11-25: every check', async () => {
    const result = await runSuite('0.2.0-alpha.12', url, ['--requirements', '2025-11-25']);
    assert.deepEqual(unexpected(result, []), []);
    assert.deepEqual([result.scenarios.length, result.passed, result.failed], [33, 83, 0]);
  });

  it('0.2.0-alpha.12 --requirements 2026-07-28: every check but those that are listed with a reason', async () => {
    const result = await runSuite('0.2.0-alpha.12', url, ['--requirements', '2026-07-28']);
    assert.deepEqual(unexpected(result, excluded), []);
    assert.deepEqual(withStatus(result, 'SKIPPED'), keys(skipped));
    assert.deepEqual([result.scenarios.length, result.passed, result.failed], [50, 162, keys(excluded).length]);
  });
});

describe('the scenarios that need no fixtures, against the product itself ', () => {
  const scenarios = [
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ];
  let program: ListeningProgram;

  before(async () => {
    program = await startListening(carrelProgram, ['serve']);
  });
  after(async () => {
    assert.equal(await program.stop(), 0);
  });

  for (const scenario of scenarios) {
    it(scenario, async () => {
      const url = program.url.replace('127.0.0.1', 'localhost');
      const result = await runSuite('0.1.16', url, ['--scenario', scenario]);
      assert.deepEqual(unexpected(result, []), []);
      assert(result.passed > 0 && result.failed === 0);
    });
  }
});

/** Failures and warnings that are not listed, and listed ones that did not fail. */
function unexpected(result: SuiteResult, listed: readonly Exclusion[]): string[] {
  const failures = [...withStatus(result, 'FAILURE'), ...withStatus(result, 'WARNING')];
  const expected = keys(listed);
  const surprises = failures.filter((key) => !expected.includes(key)).map((key) => `failed: ${explain(result, key)}`);
  const stale = expected.filter((key) => !failures.includes(key)).map((key) => `listed, but passes: ${key}`);
  return [...surprises, ...stale];
}

function withStatus({ checks }: SuiteResult, status: string): string[] {
  const found = checks.filter((check) => check.status === status);
  return found.map(({ scenario, id }) => `${scenario}: ${id}`).sort();
}

function keys(exclusions: readonly Exclusion[]): string[] {
  return exclusions.flatMap(({ scenario, checks }) => checks.map((id) => `${scenario}: ${id}`)).sort();
}

function explain({ checks }: SuiteResult, key: string): string {
  const check = checks.find(({ scenario, id, status }) => `${scenario}: ${id}` === key && status !== 'SUCCESS');
  return `${key} (${check?.problem ?? ''})`;
}
