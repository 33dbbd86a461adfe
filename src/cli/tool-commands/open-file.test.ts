import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';
import { pageOrLines } from './listings.ts';
import { openerOf, requireDisplayableFile } from './open-file.ts';

test('opens only displayable files, and only on this machine', (t) => {
  const folder = makeFolder(t);
  const file = (name: string): string => {
    writeFileSync(join(folder, name), 'x');
    return join(folder, name);
  };
  mkdirSync(join(folder, 'Evil.pdf'));
  const fine = file('a b; rm -rf $HOME & "c".PDF');
  assert.equal(requireDisplayableFile(fine), fine);
  for (const path of [
    file('run.sh'),
    file('run.desktop'),
    file('run.exe'),
    file('run.command'),
    file('noextension'),
    join(folder, 'Evil.pdf'),
    join(folder, 'missing.pdf'),
    'relative.pdf',
    'https://example.org/a.pdf',
    '',
    null,
    undefined,
    7,
  ]) {
    assert.throws(() => requireDisplayableFile(path), { code: 'invalid_usage' }, String(path));
  }
});

test('each system has its own opener, which gets the path as one argument', () => {
  const path = '/home/u/a b;$(x).pdf';
  assert.deepEqual(openerOf('linux', path), ['xdg-open', path]);
  assert.deepEqual(openerOf('darwin', path), ['/usr/bin/open', path]);
  assert.deepEqual(openerOf('win32', path), ['explorer.exe', path]);
});

test('shows the page of a hit, or else its lines', () => {
  assert.equal(pageOrLines({ page: 3, line_start: 1 }), '3');
  assert.equal(pageOrLines({ line_start: 4, line_end: 9 }), 'l.4-9');
  assert.equal(pageOrLines({ line_start: 4, line_end: 4 }), 'l.4');
  assert.equal(pageOrLines(null), '');
});
