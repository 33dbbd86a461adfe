import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { listTools } from '../scripts/docs.ts';
import { estimateTokens } from '../src/answers/token-estimate.ts';
import { essentialTools } from '../src/app/role-features.ts';
import { roles } from '../src/app/roles.ts';
import { tokensOf } from '../src/cli/tools.ts';

const root = join(import.meta.dirname, '..');
const vocabulary = new Tiktoken(o200k);

function assertWithin(share: number, text: string, what: string): void {
  const [estimated, true_] = [estimateTokens(text), vocabulary.encode(text).length];
  assert.ok(Math.abs(estimated / true_ - 1) <= share, `${what}: estimated ${estimated}, o200k ${true_}`);
}

/**
 * Token limits (o200k) for each role's tool list, including the schemas of all answers. Raise them only by decision. `serve`
 * has everything but Fess, whose tools need a separate configuration.
 */
const tokensMax: Readonly<Record<string, number>> = {
  ...{ serve: 10_000, context: 4_800, research: 1_600, kb: 3_600, fess: 2_600, engine: 1 },
};

/** Cached, because listing tools takes a second. */
const lists = new Map(
  await Promise.all(
    Object.values(roles).map(
      async (role) => [role.name, await listTools(role, { withFess: role.name === 'fess' })] as const,
    ),
  ),
);

test('the tools of each role stay within their token limits', () => {
  for (const [role, listings] of lists) {
    const tokens = vocabulary.encode(JSON.stringify(listings)).length;
    assert.ok(tokens <= (tokensMax[role] ?? 0), `${role}: ${tokens}`);
  }
});

test("the token estimate of `carrel tools` is within a tenth of o200k's", () => {
  for (const [role, listings] of lists) {
    if (listings.length > 0) assertWithin(0.1, JSON.stringify(listings), role);
    for (const listing of listings) assertWithin(0.15, JSON.stringify(listing), listing.name);
  }
});

test('the essential tools cost a third, all exist, and docs/tools.md states the cost', () => {
  const all = lists.get('serve') ?? assert.fail();
  const essential = all.filter(({ name }) => essentialTools.has(name));
  assert.equal(essential.length, essentialTools.size);
  const page = readFileSync(join(root, 'docs/tools.md'), 'utf8');
  for (const [list, max] of [
    [all, 10_000],
    [essential, 3_200],
  ] as const) {
    const tokens = vocabulary.encode(JSON.stringify(list)).length;
    assert.ok(tokens <= max, String(tokens));
    const stated = tokensOf(list);
    assert.ok(
      page.includes(`about ${stated.toLocaleString('en')} tokens`) ||
        page.includes(`about\n${stated.toLocaleString('en')} tokens`),
    );
    assert.ok(Math.abs(stated / tokens - 1) <= 0.03, `${stated} stated, ${tokens} counted`);
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
