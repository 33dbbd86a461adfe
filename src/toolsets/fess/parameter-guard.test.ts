import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  guardDocId,
  guardFacets,
  guardGeo,
  guardLabel,
  guardLanguage,
  guardPage,
  guardSort,
} from './parameter-guard.ts';

const refused = (field: string) => ({ code: 'invalid_arguments', data: { field } });

test('rejects labels that could end the quotes around them', () => {
  assert.equal(guardLabel('finance_2'), 'finance_2');
  for (const label of ['', 'a"b', 'a\\', 'a b', 'x" OR "y', 'a'.repeat(101)]) {
    assert.throws(() => guardLabel(label), refused('label'), label);
  }
});

test('rejects document ids with special characters', () => {
  assert.equal(guardDocId('a1f0c3d25b7e4c0c9a2f7d1be0a94c11'), 'a1f0c3d25b7e4c0c9a2f7d1be0a94c11');
  for (const docId of ['', '*', 'a OR b', '../x', 'a"b', 'a'.repeat(101)]) {
    assert.throws(() => guardDocId(docId), refused('docId'), docId);
  }
});

test('accepts only field names and orders as sort', () => {
  for (const sort of ['score.desc', 'created', 'last_modified.desc,score.asc']) assert.equal(guardSort(sort), sort);
  for (const sort of ['', 'score.desc) OR test', 'score desc', 'score.desc label:hr', 'score.up', 'a,', 'a\n']) {
    assert.throws(() => guardSort(sort), refused('sort'), sort);
  }
});

test('accepts only language codes', () => {
  assert.equal(guardLanguage('pt-br'), 'pt-br');
  assert.throws(() => guardLanguage('en OR'), refused('lang'));
});

test('rejects unknown facet fields, because Fess would return no hits (reference §2.3)', () => {
  assert.throws(() => guardFacets({ field: ['role'] }), refused('facets.field'));
  assert.throws(() => guardFacets({ field: ['title'] }), refused('facets.field'));
  assert.throws(() => guardFacets({ size: 0 }), refused('facets.size'));
  assert.throws(() => guardFacets({ sort: 'count.up' }), refused('facets.sort'));
  assert.deepEqual(guardFacets({ field: ['label'], query: ['a OR'] }), { field: ['label'], query: ['a'] });
});

test('rejects malformed geo points and distances', () => {
  assert.deepEqual(guardGeo({ point: '35.68, 139.76', distance: '10km' }), { point: '35.68,139.76', distance: '10km' });
  for (const point of ['', '91,0', '0,181', '1,2,3', 'a,b', '1']) {
    assert.throws(() => guardGeo({ point, distance: '1km' }), refused('geo.point'), point);
  }
  assert.throws(() => guardGeo({ point: '1,2', distance: 'far' }), refused('geo.distance'));
});

test('pages end at the result window of 10,000 (reference §0.6)', () => {
  assert.deepEqual(guardPage(9990, 20), { start: 9990, num: 10 });
  assert.throws(() => guardPage(10_000, 20), refused('start'));
  assert.throws(() => guardPage(-1, 20), refused('start'));
  assert.throws(() => guardPage(0, 101), refused('pageSize'));
});
