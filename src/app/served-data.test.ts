import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutCredentials } from './served-data.ts';

test('an address is shown without user, password and options', () => {
  assert.equal(withoutCredentials('postgres://me:secret@db.example:5432/carrel?sslkey=x'), 'db.example:5432/carrel');
  assert.equal(withoutCredentials('host=db password=secret'), 'as configured');
});
