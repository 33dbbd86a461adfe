import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { citedClauses } from '../../support/verifies.ts';
import { clauses } from './clauses.ts';

const files = globSync('*.test.ts', { cwd: import.meta.dirname })
  .filter((file) => file !== 'clauses.test.ts')
  .map((file) => join(import.meta.dirname, file))
  // The guard against rebinding needs an isolated network with a lying name server.
  .concat(join(import.meta.dirname, '../../security/ssrf/roads.ts'));

test('every clause of 004 is cited by a test', () => {
  const cited = citedClauses(files, '004');
  const uncited = Object.keys(clauses).filter((clause) => !cited.has(clause));
  assert.deepEqual(uncited, []);
});

test('every citation names a clause of 004', () => {
  const unknown = [...citedClauses(files, '004')].filter((clause) => !Object.hasOwn(clauses, clause));
  assert.deepEqual(unknown, []);
});
