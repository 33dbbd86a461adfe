import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { citedClauses } from '../../support/verifies.ts';
import { clauses } from './clauses.ts';

const files = globSync('*.ts', { cwd: import.meta.dirname })
  .filter((file) => !file.startsWith('clauses.'))
  .map((file) => join(import.meta.dirname, file));

test('every clause of 003 is cited by a test', () => {
  const cited = citedClauses(files, '003');
  assert.deepEqual(
    Object.keys(clauses).filter((clause) => !cited.has(clause)),
    [],
  );
});

test('every citation names a clause of 003', () => {
  assert.deepEqual(
    [...citedClauses(files, '003')].filter((clause) => !Object.hasOwn(clauses, clause)),
    [],
  );
});
