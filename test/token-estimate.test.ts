import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { listTools } from '../scripts/docs.ts';
import { estimateTokens } from '../src/answers/token-estimate.ts';
import { roles } from '../src/app/roles.ts';

const root = join(import.meta.dirname, '..');
const vocabulary = new Tiktoken(o200k);

function assertWithin(share: number, text: string, what: string): void {
  const [estimated, true_] = [estimateTokens(text), vocabulary.encode(text).length];
  assert.ok(Math.abs(estimated / true_ - 1) <= share, `${what}: estimated ${estimated}, o200k ${true_}`);
}

test("the token estimate of `carrel tools` is within a tenth of o200k's", async () => {
  for (const role of Object.values(roles)) {
    const listings = await listTools(role);
    if (listings.length > 0) assertWithin(0.1, JSON.stringify(listings), role.name);
    for (const listing of listings) assertWithin(0.15, JSON.stringify(listing), listing.name);
  }
});

test('the estimate is within a tenth of o200k for prose and code', () => {
  const read = (pattern: string): string =>
    globSync(pattern, { cwd: root })
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('\n');
  assertWithin(0.1, read('docs/*.md'), 'documentation');
  assertWithin(0.1, read('src/search/**/*.ts'), 'code');
});

const sentences: Record<string, string> = {
  Russian: 'Библиотека открыта по будням с девяти до восемнадцати часов, а читальный зал закрывается на час раньше.',
  Chinese: '图书馆工作日从九点开放到十八点，阅览室提前一小时关闭。请在离开之前把借阅的书籍归还到服务台。',
  German: 'Die Bibliothek ist werktags von neun bis achtzehn Uhr geöffnet, der Lesesaal schließt eine Stunde früher.',
  Thai: 'ห้องสมุดเปิดทำการในวันธรรมดาตั้งแต่เก้าโมงเช้าถึงหกโมงเย็น ห้องอ่านหนังสือปิดก่อนหนึ่งชั่วโมง',
  Arabic: 'المكتبة مفتوحة في أيام الأسبوع من التاسعة صباحا حتى السادسة مساء وتغلق قاعة المطالعة قبل ذلك بساعة.',
};

test('the estimate is within a third of o200k for a sentence in other languages', () => {
  for (const [language, text] of Object.entries(sentences)) assertWithin(1 / 3, text, language);
});
