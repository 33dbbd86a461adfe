import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNearestSentence, findQuote, isQuotable, sliceUnits } from './find-quote.ts';

const { signal } = new AbortController();
const passages = (...texts: string[]) => texts.map((text) => ({ text }));

/** The part of the text that was found. */
async function found(quote: string, ...texts: string[]): Promise<string | undefined> {
  const found = await findQuote(quote, passages(...texts), signal);
  return found && texts[found.passage]?.slice(...found.range);
}

test('case, white space, punctuation, quotation marks and Markdown may differ', async () => {
  const text = 'Before. The **rent** is due on the\nthird day — “at noon” — of each month. After.';
  assert.equal(
    await found('the rent is due on the third day, "at noon", of each month', text),
    'The **rent** is due on the\nthird day — “at noon” — of each month',
  );
});

test('finds a quotation of symbols and emoji alone, but none of punctuation alone', async () => {
  assert.equal(await found('👍🏽 → ✓', 'Before.', 'Done: 👍🏽 → ✓!'), '👍🏽 → ✓');
  assert.equal(await found('✅ 🎉', 'All ✅,\n🎉 now'), '✅,\n🎉');
  assert.equal(await found('✅ … =\u0338', 'All ✅ done', 'and ≠.'), '✅ done');
  assert.equal(await found('✅ 🎉', 'All ✅ done 🎉'), undefined);
  assert.equal(await found('👎', 'Done: 👍🏽'), undefined);
  assert.equal(await findNearestSentence('👎', passages('Done: 👍🏽'), signal), undefined);
  assert.deepEqual(['👍', '≤', '… !', '—', '“”'].map(isQuotable), [true, true, false, false, false]);
});

test("an emoji's variation selector is not a word", async () => {
  assert.equal(await found('❤️', 'Beware ⚠️ of it'), undefined);
  assert.equal(await found('❤️', 'With ❤ and care'), '❤');
  assert.equal(await found('with ❤ and', 'With ❤️ and care'), 'With ❤️ and');
});

test('a different word, number or sign does not match', async () => {
  const text = 'The rent is 1.50 and not -3 percent.';
  assert.equal(await found('the rent is 1.50', text), 'The rent is 1.50');
  assert.equal(await found('the rent is 1.5', text), undefined);
  assert.equal(await found('not 3 percent', text), undefined);
  assert.equal(await found('the rent is', 'The rental is due.'), undefined);
});

test('units belong to numbers: 3 € is not 3 $, and 5 % is not 5', async () => {
  const text = 'Fees: **3**\n€ or $ 4 a month, rising by 5% (cf. `100 $`), in $x$ and 6.';
  assert.equal(await found('fees: 3 € or $4', text), 'Fees: **3**\n€ or $ 4');
  assert.equal(await found('rising by 5 % (cf. 100$), in x and 6', text), 'rising by 5% (cf. `100 $`), in $x$ and 6');
  assert.equal(await found('by ５％ (cf.', text), 'by 5% (cf');
  assert.equal(await found('fees: 3', text), 'Fees: **3');
  for (const other of ['fees: 3 $', 'fees: 3 or', 'or € 4 a month', 'rising by 5 cf.', 'rising by 5 ‰']) {
    assert.equal(await found(other, text), undefined, other);
  }
});

test('a number within a word counts: Q3 is not Q4', async () => {
  const text = 'Sales rose in Q4 with v2 of the H1N1 kit.';
  assert.equal(await found('sales rose in Q3', text), undefined);
  assert.equal(await found('with v3 of the', text), undefined);
  assert.equal(await found('rose in Q4 with v2 of the H1N1 kit', text), 'rose in Q4 with v2 of the H1N1 kit');
});

test('a letter that becomes longer in lower case does not move the range', async () => {
  assert.equal(await found('rent is due', 'İİİİ İstanbul: the rent is due now.'), 'rent is due');
});

test('finds the first match in repetitive text', async () => {
  const text = 'so so so so la so so so so so mi';
  assert.equal(await found('so so so so so mi', text), 'so so so so so mi');
  assert.equal(await found('so so la … so mi', text), 'so so la so so so so so mi');
  assert.equal(await found('so so so so so so mi', text), undefined);
});

test('joins a word hyphenated at a line break, and returns its exact range', async () => {
  const text = 'An exam-\n  ple of hyphen­ation in print.';
  assert.equal(await found('example of hyphenation', text), 'exam-\n  ple of hyphen­ation');
});

test('omission marks stand for any words in between', async () => {
  const text = 'We met in May, had lunch by the river, and signed the lease.';
  assert.equal(
    await found('We met in May … signed the lease', text),
    'We met in May, had lunch by the river, and signed the lease',
  );
  assert.equal(await found('signed the lease [...] We met in May', text), undefined);
});

test('a quotation may continue in the next passage', async () => {
  const found = await findQuote('ends here and goes on', passages('none', 'It ends here', 'and goes on.'), signal);
  assert.deepEqual(found, { passage: 1, range: [3, 12] });
});

test('other calls are answered while a quotation is located in a long text', async () => {
  const turnsFor = async (quote: string) => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    await findQuote(quote, passages(`${'→'.repeat(sliceUnits * 3)}↑`), signal);
    clearImmediate(next);
    return turns;
  };
  assert.ok((await turnsFor('→ ↑')) >= (await turnsFor('↓')) + 2);
});

test('scripts without spaces are compared character by character', async () => {
  assert.equal(await found('每月三日付房租', '租约规定，每月三日，付房租。'), '每月三日，付房租');
});

test('returns the sentence that shares the most words, or none', async () => {
  const texts = passages('Nothing of it.', 'The rent is due on the fifth day of each month. Pets are allowed.');
  const nearest = await findNearestSentence('The rent is due on the third day of each month', texts, signal);
  assert.deepEqual(nearest, {
    passage: 1,
    text: 'The rent is due on the fifth day of each month.',
    shared: 9,
    of: 10,
  });
  assert.equal(await findNearestSentence('zebra quantum marmalade', texts, signal), undefined);
});
