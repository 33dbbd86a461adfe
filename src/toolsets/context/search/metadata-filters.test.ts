import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseIndexedField } from '../../../storage/entries/field-index.ts';
import { parseMetadataFilters } from './metadata-filters.ts';

test('002 filters: keys accept letters of any language; dots reach into objects', () => {
  for (const key of ['größe', 'gro\u0308ße', '状態', 'हिन्दी', 'a_b-c']) {
    const { conditions, faults } = parseMetadataFilters({ [key]: 1 }, [{ key: `${key}.x`, operator: 'exists' }]);
    assert.deepEqual([conditions.map(({ path }) => path), faults], [[[key], [key, 'x']], []]);
    assert.deepEqual(parseIndexedField(`${key}:array`), { path: [key], isObject: false });
  }
  for (const key of ['a b', 'a"b', "a')--", 'a\u200bb', 'a\u202eb', '👍', '$.a', '']) {
    assert.equal(parseMetadataFilters({ [key]: 1 }, []).faults.length, 1, key);
  }
});
