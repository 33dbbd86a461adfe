import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeAccents } from './compose-accents.ts';

test('puts an accent drawn before its letter onto it', () => {
  assert.equal(composeAccents('les ann´ees pr´ec´edentes, `a c^ot´e'), 'les années précédentes, `a c^oté');
  assert.equal(
    composeAccents('M¨unchen, Erd˝os, Pl¨ucker, fran¸cais, na¨ıve, Ces`aro, s˜ao, ˇCapek'),
    'München, Erdős, Plücker, français, naïve, Cesàro, são, Čapek',
  );
});

test('keeps accents that belong to no letter', () => {
  assert.equal(composeAccents('use `name` and 5´ or ´ alone, ¨x'), 'use `name` and 5´ or ´ alone, ẍ');
  assert.equal(composeAccents('don´t'), 'don´t');
});
