import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { termText } from './document-terms.ts';
import { currentLanguage, type Language, languages, useLanguage } from './language.ts';
import { leavesOf, plainQuery } from './word-query.ts';

afterEach(() => useLanguage('english'));

/** True if the query finds the text: they share a term. */
function finds(query: string, text: string): boolean {
  const { main, extra } = termText(text);
  return leavesOf(plainQuery(query)).some(
    (leaf) => leaf.kind === 'term' && `${main}${extra}`.includes(` ${leaf.term} `),
  );
}

test('FTS_LANGUAGE may name the 29 languages of PostgreSQL (contract §5)', () => {
  assert.equal(languages.length, 29);
  assert.equal(new Set(languages).size, 29);
});

test('a form shared by two words belongs to the more frequent one', () => {
  assert.ok(finds('where does she live', 'She lives in Oslo.'));
  assert.ok(finds('when can I leave', 'The last boat leaves at nine.'));
});

const forms: Partial<Record<Language, readonly [searchedForm: string, written: string]>> = {
  arabic: ['الكتاب', 'كتاب'],
  armenian: ['քաղաքներ', 'քաղաք'],
  danish: ['husene', 'huset'],
  dutch: ['boeken', 'boek'],
  english: ['go', 'went'],
  finnish: ['talossa', 'talon'],
  french: ['manger', 'mangeait'],
  german: ['Häuser', 'Haus'],
  greek: ['δρόμοι', 'δρόμος'],
  hindi: ['किताबें', 'किताब'],
  hungarian: ['házban', 'házak'],
  indonesian: ['membaca', 'bacaan'],
  irish: ['bhád', 'bád'],
  italian: ['gatti', 'gatto'],
  lithuanian: ['namas', 'namai'],
  norwegian: ['husene', 'huset'],
  portuguese: ['livros', 'livro'],
  romanian: ['cărțile', 'cărți'],
  russian: ['книги', 'книгой'],
  serbian: ['kuće', 'kuća'],
  spanish: ['comía', 'comer'],
  swedish: ['flickorna', 'flickor'],
  tamil: ['வீடுகள்', 'வீடு'],
  turkish: ['evler', 'evlerde'],
};

for (const [language, [searchedForm, written]] of Object.entries(forms)) {
  test(`${language}: ${searchedForm} finds ${written}`, async () => {
    await useLanguage(languages.find((each) => each === language) ?? 'simple');
    assert.equal(currentLanguage(), language);
    assert.ok(finds(searchedForm, `x ${written} y`));
    assert.ok(finds(written, `x ${searchedForm} y`));
  });
}

test('accents are optional in the query and in the text', async () => {
  await useLanguage('german');
  assert.ok(finds('haeuser hauser', 'Häuser'));
  assert.ok(finds('Häuser', 'Hauser'));
  await useLanguage('french');
  assert.ok(finds('ecoles', 'école'));
});

test('without a stemmer, words match as written', async () => {
  for (const language of ['simple', 'basque', 'catalan', 'yiddish'] as const) {
    await useLanguage(language);
    assert.ok(finds('running', 'Running'));
    assert.ok(!finds('running', 'run'));
  }
});
