import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { listTools } from '../scripts/docs.ts';
import { estimateTokens } from '../src/answers/token-estimate.ts';
import { essentialTools } from '../src/app/role-features.ts';
import { serveRole } from '../src/app/roles.ts';
import { tokensOf, typicalAnswers } from '../src/cli/tools.ts';
import type { ToolListing } from '../src/tools/catalogue.ts';
import { carrelProgram, cleanEnv, makeFolder } from './support/child-program.ts';
import { until } from './support/pause.ts';

const root = join(import.meta.dirname, '..');
const vocabulary = new Tiktoken(o200k);
const tokensIn = (text: string): number => vocabulary.encode(text).length;

function assertWithin(share: number, text: string, what: string): void {
  const [estimated, true_] = [estimateTokens(text), tokensIn(text)];
  assert.ok(Math.abs(estimated / true_ - 1) <= share, `${what}: estimated ${estimated}, o200k ${true_}`);
}

/**
 * Token limits (o200k) for each role's tool list, including the schemas of all answers. Raise them only by decision. `serve`
 * has everything but Fess, whose tools need a separate configuration.
 */
const tokensMax: Readonly<Record<string, number>> = {
  ...{ serve: 10_000, context: 4_800, research: 1_600, kb: 3_600, fess: 2_600, engine: 1 },
};

const snapshot: Record<string, ToolListing[]> = JSON.parse(
  readFileSync(join(root, 'test/snapshots/tools.json'), 'utf8'),
);
/** The snapshot's tools, which test/docs.test.ts compares with the code, except that its `serve` includes Fess. */
const lists = new Map(Object.entries({ ...snapshot, serve: await listTools(serveRole, { withFess: false }) }));

test('the tools of each role stay within their token limits', () => {
  for (const [role, listings] of lists) {
    const tokens = tokensIn(JSON.stringify(listings));
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
    const tokens = tokensIn(JSON.stringify(list));
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

/** Token limits for the searches that agents use most: ten results of find, five of the others. */
const answerTokensMax: Readonly<Record<string, number>> = { find: 1_100, kb_search: 650, hybrid_search_context: 800 };

const habits: Readonly<Record<string, string>> = {
  heron: 'stands motionless at the edge of the reeds and waits for frogs that come up for air after rain',
  bittern: 'walks slowly along the muddy bank of the old canal and looks for small fish below the lily pads',
  egret: 'follows cattle over the wet pasture and picks up insects that their hooves have startled there',
  stork: 'nests on the chimney of the mill and carries sticks and clumps of turf up to it every March',
  crane: 'calls from the far side of the fen before sunrise and is answered from the island in the lake',
};

type Fields = Record<string, unknown>;

async function connect(t: TestContext) {
  const dataDir = makeFolder(t);
  const client = new Client({ name: 'test', version: '1' });
  t.after(() => client.close());
  const env = cleanEnv(dataDir);
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [carrelProgram], env, cwd: dataDir, stderr: 'ignore' }),
  );
  return async (name: string, args: Fields): Promise<{ data: Fields; tokens: number }> => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
    assert.ok(!isError, JSON.stringify(content));
    const texts = (content as { text?: string }[]).map(({ text = '' }) => text);
    return { data: structuredContent as Fields, tokens: tokensIn(texts.join('\n')) };
  };
}

test('answers stay within their token limits, and near what `carrel tools` shows', async (t) => {
  const call = await connect(t);
  for (const [bird, habit] of Object.entries(habits)) {
    const text = `The ${bird} is a bird of the marsh. It ${habit}. Walkers see it most often in spring, when the marsh is flooded.`;
    assert.ok(Math.abs(tokensIn(text) - 47) <= 5, `${bird}: ${tokensIn(text)}`);
    await call('kb_add', { text, title: `The ${bird}` });
    await call('store_context', { thread_id: 'field-notes', source: 'agent', text });
  }
  await until(async () => {
    const { data } = await call('kb_jobs', {});
    return (data['jobs'] as Fields[]).every(({ status }) => status === 'done');
  });
  const query = { query: 'bird of the marsh', include_weak: true };
  const calls: Readonly<Record<string, Fields>> = {
    find: query,
    verify: { uri: 'carrel://kb/doc/1', quote: 'a bird of the marsh' },
    store_context: { thread_id: 'other', source: 'agent', text: 'The gate code changes in May.' },
    hybrid_search_context: query,
    search_context: { thread_id: 'field-notes' },
    get_context_by_ids: { context_ids: [1] },
    list_threads: {},
    kb_search: query,
    kb_add: { text: 'The gate code changes in May.' },
    kb_get: { document_id: 1 },
    kb_list: {},
  };
  assert.deepEqual(Object.keys(calls), Object.keys(typicalAnswers));
  const measured = new Map<string, number>();
  for (const [name, args] of Object.entries(calls)) {
    const { data, tokens } = await call(name, args);
    if (name in answerTokensMax) {
      assert.equal((data['results'] as unknown[]).length, name === 'find' ? 10 : 5, name);
      assert.ok(tokens <= (answerTokensMax[name] ?? 0), `${name}: ${tokens}`);
    }
    measured.set(name, tokens);
  }
  const wrong = [...measured].filter(
    ([name, tokens]) => Math.abs(tokens - (typicalAnswers[name] ?? 0)) > 5 + 0.1 * tokens,
  );
  assert.deepEqual(wrong, [], 'measured, and stated otherwise in tools.ts');
  const { data, tokens } = await call('get_context_by_ids', { context_ids: [99_999] });
  assert.ok(data['hint'] && tokens > 20, 'the text repeats the structured content, even if nothing was found');
});
