import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRtf } from './rtf.ts';

function read(rtf: string) {
  const bytes = Buffer.from(rtf, 'latin1');
  return readRtf(bytes, { mode: 'markdown', charsMax: 100_000, stopAt: Number.POSITIVE_INFINITY });
}

const text = (rtf: string): string => read(rtf).text;

test('reads characters in code pages, font charsets and Unicode', () => {
  assert.equal(text("{\\rtf1\\ansi\\ansicpg1252 Gr\\'fc\\'dfe}"), 'Grüße');
  assert.equal(text("{\\rtf1\\ansicpg1251 \\'cc\\'e0\\'ff\\'ea}"), 'Маяк');
  assert.equal(text("{\\rtf1{\\fonttbl{\\f3\\fcharset128 Mincho;}}{\\f3 \\'93\\'94\\'91\\'e4}}"), '灯台');
  assert.equal(text('{\\rtf1\\uc1 \\u28783?\\u21488?{\\uc0 \\u-10179\\u-8704}}'), '灯台😀');
  assert.equal(text("{\\rtf1\\uc2 a\\u233 \\'c3\\'a9b}"), 'aéb');
});

test('skips pictures, fonts, styles, unknown destinations and hidden text', () => {
  const rtf =
    '{\\rtf1{\\fonttbl{\\f0 Arial;}}{\\*\\unknown secret}{\\pict 89504e47}a {\\v hidden}b{\\info{\\author X}}\\par}';
  assert.equal(text(rtf), 'a b');
});

test('reads title and author, and no other document information', () => {
  const rtf = '{\\rtf1{\\info{\\title Pump manual}{\\author Ada}{\\keywords secret}{\\*\\company X}}body\\par}';
  const { title, byline, text: output } = read(rtf);
  assert.deepEqual([title, byline, output], ['Pump manual', 'Ada', 'body']);
});

test('keeps headings, lists and tables', () => {
  const rtf = `{\\rtf1{\\stylesheet{\\s1 heading 1;}{\\s2\\outlinelevel1 Mine;}}\\pard\\s1 One\\par\\pard\\s2 Two\\par
    \\pard{\\listtext 1.\\tab}first\\par{\\listtext 2.\\tab}second\\par\\pard after\\par
    \\trowd\\intbl a\\cell b\\cell\\row\\trowd\\intbl c\\cell d\\cell\\row\\pard end\\par}`;
  assert.equal(
    text(rtf.replace(/\n\s*/g, '')),
    '# One\n\n## Two\n\n1. first\n2. second\n\nafter\n\n| a | b |\n| --- | --- |\n| c | d |\n\nend',
  );
});

test('reads a truncated document up to its end', () => {
  assert.equal(text('{\\rtf1 one\\par two\\par {\\b thr'), 'one\n\ntwo\n\nthr');
});

test('ignores list number definitions, and a file with only an object has no text', () => {
  const levels = '{\\*\\pnseclvl1\\pnucrm{\\pntxta .}}{\\*\\pnseclvl5\\pndec{\\pntxtb (}{\\pntxta )}}';
  assert.equal(text(`{\\rtf1${levels} words\\par}`), 'words');
  assert.equal(text('{\\rtf1 {\\object\\objemb{\\*\\objdata 0105000002}}{\\pntxtb (} )( \\par}'), '');
});
