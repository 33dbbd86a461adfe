import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarise } from './summarise.ts';

const text = `The billing service moves to PostgreSQL in March. The weather was nice that day.
Billing keeps its invoices in PostgreSQL tables. Somebody made tea. The billing service needs PostgreSQL backups each
night. A dog barked outside for a while. Invoices of the billing service are exported on Fridays. Lunch was late again.
The PostgreSQL cluster of billing has three machines. Nobody knows where the keys are.`;

test('returns whole sentences in text order, the same each time', () => {
  const summary = summarise(text, { tokensMax: 2000 }) ?? '';
  assert.equal(summarise(text, { tokensMax: 2000 }), summary);
  const flat = text.replace(/\s+/g, ' ');
  let at = 0;
  for (const sentence of summary.split(/(?<=\.) /)) {
    const found = flat.indexOf(sentence, at);
    assert.ok(found >= at, sentence);
    at = found;
  }
  assert.match(summary, /^The billing service moves to PostgreSQL in March\./);
  assert.doesNotMatch(summary, /tea|dog|Lunch/);
  assert.ok(summary.length < text.length / 1.3);
});

test('respects the limit, repeats nothing, and returns undefined without sentences', () => {
  const short = summarise(text, { tokensMax: 15 }) ?? '';
  assert.ok(short.length > 0 && short.split('.').length <= 3);
  const repeated = summarise('The cat sat on the warm mat. '.repeat(30), { tokensMax: 2000 });
  assert.equal(repeated, 'The cat sat on the warm mat.');
  assert.equal(summarise('x'.repeat(2000), { tokensMax: 2000 }), undefined);
  assert.equal(summarise('1 2 3 4 5 '.repeat(100), { tokensMax: 2000 }), undefined);
});
