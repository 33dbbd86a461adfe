import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { citedClauses } from '../../support/verifies.ts';
import { clauses } from './clauses.ts';

const files = globSync('*.ts', { cwd: import.meta.dirname })
  .filter((file) => !file.startsWith('clauses.'))
  .map((file) => join(import.meta.dirname, file));
const cited = new Set([...citedClauses(files, '000'), ...citedClauses(files, '001')]);

test('every acceptance test of 001 and every MUST of 000 is cited by a test on the built program', () => {
  assert.deepEqual(
    Object.keys(clauses).filter((clause) => !cited.has(clause)),
    [],
  );
});

test('tests cite only listed clauses', () => {
  assert.deepEqual(
    [...cited].filter((clause) => !Object.hasOwn(clauses, clause)),
    [],
  );
});
