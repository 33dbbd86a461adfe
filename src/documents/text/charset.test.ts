import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeBytes } from './charset.ts';

/** Encoding, text, and its bytes as another program wrote them. */
const samples: [string, string, string][] = [
  [
    'shift_jis',
    '山歩きの記録をつけています。天気は曇りのち晴れでした。',
    '8e5295e082ab82cc8b4c985e82f082c282af82c482a282dc82b7814293568b4382cd93dc82e882cc82bf90b082ea82c582b582bd8142',
  ],
  [
    'euc-jp',
    '山歩きの記録をつけています。天気は曇りのち晴れでした。',
    'bbb3cae2a4ada4ceb5adcfbfa4f2a4c4a4b1a4c6a4a4a4dea4b9a1a3c5b7b5a4a4cfc6dea4eaa4cea4c1c0b2a4eca4c7a4b7a4bfa1a3',
  ],
  [
    'gb18030',
    '每天早上八点，周师傅准时打开他的小铺子。四十年来，他修好了两万多块手表。',
    'c3bfccecd4e7c9cfb0cbb5e3a3acd6dccaa6b8b5d7bccab1b4f2bfaacbfbb5c4d0a1c6ccd7d3a1a3cbc4caaec4eac0b4a3accbfbd0debac3c1cbc1bdcdf2b6e0bfe9cad6b1eda1a3',
  ],
  [
    'big5',
    '關閉二十六年的山城戲院上星期六重新開幕，許多觀眾是帶著孫子來的。',
    'c3f6b3aca447a451a4bba67eaabaa473abb0c0b8b07ca457ac50b4c1a4bbadabb773b67db9f5a141b35ca668c65bb2b3ac4fb161b5dbae5da46ca8d3aabaa143',
  ],
  [
    'euc-kr',
    '안녕하세요. 마을도서관입니다. 다음 달부터 운영시간이 바뀝니다.',
    'bec8b3e7c7cfbcbcbfe42e20b8b6c0bbb5b5bcadb0fcc0d4b4cfb4d92e20b4d9c0bd20b4debacec5cd20bfeebfb5bdc3b0a3c0cc20b9d9b2f2b4cfb4d92e',
  ],
  [
    'windows-1251',
    'Новый пешеходный мост через реку открыли в среду после двух лет строительства.',
    'cdeee2fbe920efe5f8e5f5eee4edfbe920eceef1f220f7e5f0e5e720f0e5eaf320eef2eaf0fbebe820e220f1f0e5e4f320efeef1ebe520e4e2f3f520ebe5f220f1f2f0eee8f2e5ebfcf1f2e2e02e',
  ],
  [
    'koi8-r',
    'Сад заложил ещё мой дед, в тот год, когда в уезд провели железную дорогу.',
    'f3c1c420dac1cccfd6c9cc20c5dda320cdcfca20c4c5c42c20d720d4cfd420c7cfc42c20cbcfc7c4c120d720d5c5dac420d0d2cfd7c5ccc920d6c5ccc5daced5c020c4cfd2cfc7d52e',
  ],
  [
    'windows-1252',
    'Escalde a farinha de milho com a água e deixe arrefecer. Não é permitida a cópia.',
    '457363616c6465206120666172696e6861206465206d696c686f20636f6d206120e16775612065206465697865206172726566656365722e204ee36f20e9207065726d697469646120612063f37069612e',
  ],
  [
    'windows-1253',
    'Η βιβλιοθήκη του χωριού ανοίγει κάθε Σάββατο το πρωί για όλους.',
    'c720e2e9e2ebe9efe8deeae720f4eff520f7f9f1e9effd20e1edefdfe3e5e920eadce8e520d3dce2e2e1f4ef20f4ef20f0f1f9df20e3e9e120fcebeff5f22e',
  ],
  [
    'windows-1255',
    'הספרייה בכפר נפתחת בכל יום ראשון בבוקר לכל התושבים.',
    'e4f1f4f8e9e9e420e1ebf4f820f0f4fae7fa20e1ebec20e9e5ed20f8e0f9e5ef20e1e1e5f7f820ecebec20e4fae5f9e1e9ed2e',
  ],
  ['windows-874', 'ชาวประมงพบปลาหายากในรอบสามสิบปี', 'aad2c7bbc3d0c1a7bebabbc5d2cbd2c2d2a1e3b9c3cdbacad2c1cad4babbd5'],
];
const detectable = new Set('shift_jis euc-jp gb18030 big5 euc-kr windows-1251 koi8-r windows-1252'.split(' '));

for (const [encoding, text, hex] of samples) {
  const bytes = Buffer.from(hex, 'hex');
  test(`decodes ${encoding} named by the header`, async () => {
    assert.equal(await decodeBytes(bytes, `text/plain; charset="${encoding}"`, 'text'), text);
  });
  test(`decodes ${encoding} named by the page`, async () => {
    for (const meta of [
      `<meta charset=${encoding}>`,
      `<meta content='text/html; charset=${encoding}' http-equiv=Content-Type>`,
    ]) {
      assert.equal(await decodeBytes(Buffer.concat([Buffer.from(meta), bytes]), undefined, 'html'), meta + text);
    }
  });
  if (!detectable.has(encoding)) continue;
  test(`detects ${encoding}`, async () => {
    assert.equal(await decodeBytes(bytes, 'text/plain', 'text'), text);
  });
}

test('decodes UTF-16 with and without a byte order mark', async () => {
  const text = 'Plain words, wide characters.';
  const little = Buffer.from(text, 'utf16le');
  const big = Buffer.from(little).swap16();
  assert.equal(await decodeBytes(Buffer.concat([Buffer.from([0xff, 0xfe]), little]), undefined, 'text'), text);
  assert.equal(await decodeBytes(Buffer.concat([Buffer.from([0xfe, 0xff]), big]), undefined, 'text'), text);
  assert.equal(await decodeBytes(little, undefined, 'text'), text);
  assert.equal(await decodeBytes(big, undefined, 'text'), text);
});

test('prefers a byte order mark to the header', async () => {
  assert.equal(await decodeBytes(Buffer.from('\ufeffé'), 'text/plain; charset=koi8-r', 'text'), 'é');
});

test('detects undeclared UTF-8, even truncated inside a character', async () => {
  const bytes = Buffer.from('<p>größer');
  assert.equal(await decodeBytes(bytes, 'text/html', 'html'), '<p>größer');
  assert.match(await decodeBytes(Buffer.from('größe ö').subarray(0, -1), 'text/plain', 'text'), /^größe /);
});

test('ignores a header that says UTF-8 if the bytes are not', async () => {
  const [, text, hex] = samples[5] ?? ['', '', ''];
  assert.equal(await decodeBytes(Buffer.from(hex, 'hex'), 'text/plain; charset=utf-8', 'text'), text);
});

test('ignores encodings that no browser knows, such as UTF-7', async () => {
  assert.equal(await decodeBytes(Buffer.from('+ADw-b+AD4-'), 'text/html; charset=utf-7', 'html'), '+ADw-b+AD4-');
});

test('ignores a declaration in a comment, in a value or after 1024 bytes (HTML standard, prescan)', async () => {
  const bytes = (start: string) => Buffer.concat([Buffer.from(start), Buffer.from('é')]);
  for (const start of [
    '<!-- <meta charset=koi8-r> -->',
    '<a title="<meta charset=koi8-r>">',
    `${' '.repeat(1024)}<meta charset=koi8-r>`,
  ]) {
    assert.equal(await decodeBytes(bytes(start), undefined, 'html'), `${start}é`);
  }
});

test('reads a page that declares UTF-16 as UTF-8 (HTML standard, prescan)', async () => {
  assert.equal(await decodeBytes(Buffer.from('<meta charset=utf-16>é'), undefined, 'html'), '<meta charset=utf-16>é');
});
