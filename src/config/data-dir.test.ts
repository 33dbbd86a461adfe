import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findHome } from '../base/home-folder.ts';
import { dataDirOf } from './data-dir.ts';

test('contract §1: uses no path in the current folder if HOME or CARREL_HOME is empty', (t) => {
  const { HOME } = process.env;
  t.after(() => {
    if (HOME === undefined) delete process.env['HOME'];
    else process.env['HOME'] = HOME;
  });
  process.env['HOME'] = '';
  const { homedir } = userInfo();
  assert.equal(findHome(), homedir);
  for (const blank of ['', ' ']) assert.equal(dataDirOf(undefined, { CARREL_HOME: blank }), join(homedir, '.carrel'));
});
