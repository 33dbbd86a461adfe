import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWithinLabel } from './answer-guard.ts';

const none = { searchQuery: undefined, hitLabels: [], labelled: undefined, outside: undefined, total: 1 };
const echo = (searchQuery: string | undefined) => isWithinLabel({ ...none, searchQuery }, 'finance');

test('accepts an echoed query with the label as a separate clause', () => {
  const fine = [
    'test label:"finance"',
    '(a OR b) label:"finance"',
    '((a OR b)) label:"finance" sort:created.asc',
    '"a OR" label:"finance"',
    '"(" label:"finance"',
    'a\\) \\( label:"finance"',
    'foo\\: label:"finance"',
    'label:"hr" label:"finance"',
    'doc_id:"abc" label:"finance"',
    'label:"finance" doc_id:"abc"',
    'a\\\\ label:"finance"',
    '\\(a OR b\\) label:"finance"',
  ];
  for (const text of fine) assert.equal(echo(text), true, text);
});

test('rejects an echoed query in which an operator, quote, parenthesis or backslash affects the label', () => {
  const undone = [
    'test',
    '',
    'test label:"hr"',
    'test OR label:"finance"',
    'test || label:"finance"',
    'test NOT label:"finance"',
    'test - label:"finance"',
    'test \\ label:"finance"',
    'test\\\\\\ label:"finance"',
    '(test label:"finance"',
    '(test label:"finance" sort:score.desc) OR test',
    'a) OR (b label:"finance"',
    '"test label:"finance"',
    'label:"finance" OR test',
    'testlabel:"finance"',
  ];
  for (const text of undone) assert.equal(echo(text), false, text);
});

test('without an echoed query, checks the labels of the hits if present', () => {
  assert.equal(echo(undefined), true);
  const hits = (...hitLabels: (string[] | undefined)[]) => isWithinLabel({ ...none, hitLabels }, 'finance');
  assert.equal(hits(['finance', 'hr'], undefined), true);
  assert.equal(hits(['finance'], ['hr']), false);
  assert.equal(hits([]), false);
});

test('detects an optional label if not all results have it (reference §4.3)', () => {
  const counted = (labelled: number, total: number) => isWithinLabel({ ...none, labelled, total }, 'finance');
  assert.equal(counted(3, 3), true);
  assert.equal(counted(2, 3), false);
  assert.equal(counted(12_345, 10_000), true);
});

test('detects an optional label by one result, even if the total stops at 10,000', () => {
  const counted = (outside: number, labelled = 10_500) =>
    isWithinLabel({ ...none, labelled, outside, total: 10_000 }, 'finance');
  assert.equal(counted(0), true);
  assert.equal(counted(1), false);
  assert.equal(counted(0, 9_999), false);
});
