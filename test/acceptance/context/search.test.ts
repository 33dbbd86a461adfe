import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { until } from '../../support/pause.ts';
import { verifies } from '../../support/verifies.ts';
import { type Answer, type ContextServer, onEachDatabase, onSqlite } from './context-fixture.ts';

/** The fields that a hit has in addition to an entry's, and the ones that an explanation adds. */
const ofHits = ['relevance', 'scores'];
const explainFields = ['uri', 'hash', 'range', 'why'];

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).toString('base64');
const today = () => new Date().toISOString().slice(0, 10);
const long = `The deployment pipeline was rewritten. ${'It builds, tests and publishes every change of the code. '.repeat(15)}`;

onEachDatabase('search tools of 002', searchTools);

function searchTools(server: ContextServer): void {
  const { callEmbedded: call, fail, store } = server;
  let database = 0;
  let cat = 0;
  let picture = 0;
  let pipeline = 0;
  const ids = (answer: Answer) => answer.results.map(({ id }) => id);
  const found = async (tool: string, input: Record<string, unknown>) => ids(await call(tool, { limit: 100, ...input }));

  before(async () => {
    database = await store('work', 'We chose PostgreSQL as the database for billing because of transactions.', {
      tags: ['decision', 'storage'],
      metadata: { status: 'active', priority: 5, owner: { name: 'Alice', teams: ['core', 'billing'] }, done: false },
    });
    cat = await store('home', 'My cat Miso sleeps on the windowsill all day.', {
      tags: ['pets'],
      metadata: { status: 'Archived', priority: '5', note: '100% a_b', gone: null },
    });
    picture = await store('home', 'A photograph of the garden gate.', { source: 'agent', images: [{ data: png }] });
    pipeline = await store('work', long, { source: 'agent', metadata: { priority: 9, done: true } });
  });

  verifies(
    [
      '002 search_context/thread_id',
      '002 search_context/source',
      '002 search_context/content_type',
      '002 search_context/tags',
    ],
    'combines filters with AND and tags with OR, newest first',
    async () => {
      assert.deepEqual(await found('search_context', {}), [pipeline, picture, cat, database]);
      assert.deepEqual(await found('search_context', { thread_id: 'work' }), [pipeline, database]);
      assert.deepEqual(await found('search_context', { thread_id: 'work', source: 'user' }), [database]);
      assert.deepEqual(await found('search_context', { content_type: 'multimodal' }), [picture]);
      assert.deepEqual(await found('search_context', { tags: [' PETS ', 'decision'] }), [cat, database]);
      assert.deepEqual(await found('search_context', { tags: ['pets'], source: 'agent' }), []);
      assert.deepEqual(await found('search_context', { tags: ['%'] }), []);
    },
  );

  verifies(
    ['002 search_context/limit', '002 search_context/offset'],
    'pages are consecutive; a limit above 100 is lowered and reported',
    async () => {
      assert.deepEqual(await found('search_context', { limit: 2 }), [pipeline, picture]);
      assert.deepEqual(await found('search_context', { limit: 2, offset: 2 }), [cat, database]);
      assert.deepEqual(await found('search_context', { offset: 4 }), []);
      const cut = await call('search_context', { limit: 101 });
      assert.deepEqual(cut['clamped_limit'], { requested: 101, applied: 100 });
      assert.ok(!('clamped_limit' in (await call('search_context', { limit: 100 }))));
      for (const bad of [{ limit: 0 }, { offset: -1 }, { limit: 1.5 }]) await fail('search_context', bad);
    },
  );

  verifies(
    ['002 search_context/returns', '002 structure/truncation', '002 structure/summary', '002 structure/entry-fields'],
    'entries have a truncated text, a summary and every field',
    async () => {
      const newest = async () => (await call('search_context', { thread_id: 'work', source: 'agent' })).results[0];
      // On a busy machine, the summary may come later.
      const entry = await until(async () => {
        const found = await newest();
        return found?.['summary'] !== '' && found;
      });
      assert.equal(entry['is_text_content_truncated'], true);
      assert.ok(entry.text_content.endsWith('...') && entry.text_content.length <= 303);
      assert.ok(long.startsWith(entry.text_content.slice(0, -3)));
      assert.match(String(entry['summary']), /deployment pipeline was rewritten/);
      assert.ok(String(entry['summary']).length < long.length / 2);
      const fields = ['id', 'thread_id', 'source', 'content_type', 'metadata', 'tags', 'created_at', 'updated_at'];
      const more = ['text_content', 'summary', 'is_text_content_truncated'];
      assert.deepEqual(Object.keys(entry).sort(), [...fields, ...more].sort());
      const [short] = (await call('search_context', { tags: ['pets'] })).results;
      assert.deepEqual([short?.['summary'], short?.['is_text_content_truncated']], ['', false]);
      for (const tool of ['fts_search_context', 'semantic_search_context', 'hybrid_search_context']) {
        const [hit] = (await call(tool, { query: 'deployment pipeline', limit: 1 })).results;
        assert.deepEqual(Object.keys(hit ?? {}).sort(), [...fields, ...more, ...ofHits].sort(), tool);
        const [explained] = (await call(tool, { query: 'deployment pipeline', limit: 1, explain: true })).results;
        const all = [...fields, ...more, ...ofHits, ...explainFields];
        assert.deepEqual(Object.keys(explained ?? {}).sort(), all.sort(), tool);
        assert.match(String(explained?.['why']), /^has "deployment", "pipeline"$/);
        assert.match(String(explained?.['hash']), /^[0-9a-f]{16}$/);
        for (const score of Object.values(explained?.scores ?? {}))
          assert.match(String(score), /^(?:null|\d+(?:\.\d{1,3})?)$/);
        assert.equal(hit?.['is_text_content_truncated'], true);
      }
    },
  );

  verifies('002 search_context/include_images', 'every search returns images on request', async () => {
    const query = { query: 'photograph garden gate', content_type: 'multimodal' };
    for (const tool of ['search_context', 'fts_search_context', 'semantic_search_context', 'hybrid_search_context']) {
      const input = tool === 'search_context' ? { content_type: 'multimodal' } : query;
      const [bare] = (await call(tool, input)).results;
      assert.ok(bare && !('images' in bare), tool);
      const [full] = (await call(tool, { ...input, include_images: true })).results;
      assert.deepEqual(full?.['images'], [{ data: png, mime_type: 'image/png' }], tool);
    }
  });

  verifies(
    ['002 search_context/explain_query', '002 structure/stats', '002 store_context/indexed'],
    'returns statistics on request, with a plan that uses an index',
    async () => {
      const keys = ['execution_time_ms', 'filters_applied', 'rows_returned', 'backend', 'query_plan'];
      for (const tool of ['search_context', 'fts_search_context', 'semantic_search_context']) {
        const query = tool === 'search_context' ? {} : { query: 'database' };
        assert.ok(!('stats' in (await call(tool, query))), tool);
        const filters = { thread_id: 'work', metadata: { status: 'active' } };
        const { stats, count } = await call(tool, { ...query, ...filters, explain_query: true });
        const { query_plan: plan, ...rest } = stats as Record<string, unknown>;
        assert.deepEqual(Object.keys(stats as object), keys);
        assert.deepEqual([rest['filters_applied'], rest['rows_returned'], rest['backend']], [2, count, server.backend]);
        assert.match(String(plan), server.backend === 'sqlite' ? /USING (COVERING )?INDEX context_/ : /context_/);
      }
    },
  );

  verifies(
    [
      '002 search_context/metadata',
      '002 search_context/metadata_filters',
      '002 filters/operators',
      '002 filters/nested',
    ],
    'supports sixteen operators, types, nested paths and optional case sensitivity',
    async () => {
      const by = (key: string, operator: string, value?: unknown, sensitive?: boolean) =>
        found('search_context', {
          metadata_filters: [
            { key, operator, value, ...(sensitive === undefined ? {} : { case_sensitive: sensitive }) },
          ],
        });
      assert.deepEqual(await found('search_context', { metadata: { status: 'active' } }), [database]);
      assert.deepEqual(await found('search_context', { metadata: { status: 'ACTIVE' } }), []);
      assert.deepEqual(await found('search_context', { metadata: { priority: 5 } }), [database]);
      assert.deepEqual(await found('search_context', { metadata: { priority: '5' } }), [cat]);
      assert.deepEqual(await found('search_context', { metadata: { done: false, 'owner.name': 'Alice' } }), [database]);
      const cases: [wanted: number[], ...Parameters<typeof by>][] = [
        [[database], 'status', 'eq', 'ACTIVE'],
        [[], 'status', 'eq', 'ACTIVE', true],
        [[cat], 'status', 'ne', 'active'],
        [[pipeline], 'priority', 'gt', 5],
        [[pipeline, database], 'priority', 'gte', 5],
        [[database], 'priority', 'lt', 9],
        [[pipeline, database], 'priority', 'lte', 9],
        [[cat, database], 'status', 'in', ['active', 'archived']],
        [[cat], 'status', 'not_in', ['active', 5]],
        [[pipeline, cat, database], 'priority', 'exists'],
        [[pipeline, picture, cat, database], 'gone', 'not_exists'],
        [[cat], 'note', 'contains', '% A_'],
        [[], 'note', 'contains', '%b'],
        [[cat], 'status', 'starts_with', 'arch'],
        [[cat], 'status', 'ends_with', 'IVED'],
        [[cat], 'gone', 'is_null'],
        [[cat, database], 'status', 'is_not_null'],
        [[database], 'owner.teams', 'array_contains', 'CORE'],
        [[], 'owner.teams', 'array_contains', 'CORE', true],
        [[database], 'owner.name', 'eq', 'alice'],
        [[database], 'done', 'eq', false],
      ];
      for (const [wanted, ...filter] of cases) {
        assert.deepEqual(await by(...filter), wanted, JSON.stringify(filter));
      }
    },
  );

  verifies('002 search_context/metadata_filters', 'reports every error of an invalid filter', async () => {
    const metadata_filters = [
      { key: '', operator: 'eq', value: 1 },
      { key: "a') OR 1=1--", operator: 'eq', value: 1 },
      { key: 'a', operator: 'like', value: 1 },
      { key: 'a', operator: 'in', value: [] },
      { key: 'a', operator: 'in', value: 'x' },
      { key: 'a', operator: 'contains', value: 5 },
      { key: 'a', operator: 'array_contains', value: [1] },
    ];
    for (const tool of ['search_context', 'fts_search_context', 'semantic_search_context', 'hybrid_search_context']) {
      const query = tool === 'search_context' ? {} : { query: 'x' };
      const answer = await call(tool, { ...query, metadata_filters });
      assert.deepEqual(
        [answer.results, answer['count'], answer['error']],
        [[], 0, 'Metadata filter validation failed'],
      );
      const faults = answer['validation_errors'] as string[];
      assert.equal(faults.length, metadata_filters.length, tool);
      assert.match(faults[0] ?? '', /Metadata key cannot be empty/);
      assert.match(faults[4] ?? '', /Operator in requires a list value/);
      assert.match(faults[5] ?? '', /Operator contains requires a string value/);
    }
  });

  verifies(
    ['002 search_context/dates', '002 dates/formats', '002 dates/whole-day'],
    'date ranges include both ends in every format; a date without a time is the whole day',
    async () => {
      const all = [pipeline, picture, cat, database];
      assert.deepEqual(await found('search_context', { start_date: today(), end_date: today() }), all);
      assert.deepEqual(await found('search_context', { start_date: '2020-01-01T00:00:00+14:00' }), all);
      assert.deepEqual(await found('search_context', { end_date: '2020-01-01T10:00:00Z' }), []);
      const [entry] = (await call('get_context_by_ids', { context_ids: [cat] })).result;
      const at = String(entry?.['created_at']);
      const shifted = new Date(Date.parse(at) + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
      assert.ok((await found('search_context', { start_date: at, end_date: at })).includes(cat));
      assert.ok((await found('search_context', { start_date: shifted, end_date: shifted })).includes(cat));
      assert.ok((await found('search_context', { end_date: at.slice(0, -1) })).includes(cat));
      for (const bad of ['2025-02-30', 'now', '1700000000', '2025-01-01T24:00', '0000-00-00', '2025-1-1']) {
        assert.match(await fail('search_context', { start_date: bad }), /Invalid start_date format/);
      }
      const reversed = { start_date: '2025-11-30', end_date: '2025-11-29' };
      assert.match(
        await fail('search_context', reversed),
        /start_date \(2025-11-30\) is after end_date \(2025-11-29\)/,
      );
    },
  );

  const everyFilter: [input: Record<string, unknown>, keeps: () => number[]][] = [
    [{ thread_id: 'home' }, () => [cat]],
    [{ source: 'user' }, () => [cat, database]],
    [{ tags: ['pets'] }, () => [cat]],
    [{ content_type: 'text' }, () => [cat, database]],
    [{ metadata: { priority: 5 } }, () => [database]],
    [{ metadata_filters: [{ key: 'status', operator: 'eq', value: 'archived' }] }, () => [cat]],
    [{ start_date: '2020-01-01', end_date: '2020-12-31' }, () => []],
  ];
  const filtered = async (tool: string, query: string, more: Record<string, unknown> = {}) => {
    for (const [input, keeps] of everyFilter) {
      const hits = await found(tool, { query, ...more, ...input });
      const wanted = keeps();
      assert.deepEqual(
        hits.filter((id) => id === cat || id === database).sort(),
        [...wanted].sort(),
        `${tool} ${JSON.stringify(input)}`,
      );
    }
  };

  verifies('002 fts_search_context/filters', 'applies every filter', () =>
    filtered('fts_search_context', 'cat OR database', { mode: 'boolean' }),
  );

  verifies('002 semantic_search_context/filters', 'applies every filter', () =>
    filtered('semantic_search_context', 'a cat or a database'),
  );

  verifies('002 hybrid_search_context/filters', 'applies every filter', () =>
    filtered('hybrid_search_context', 'a cat or a database'),
  );

  verifies('002 fts_search_context/match', 'finds entries with all words, in any inflection', async () => {
    assert.deepEqual(await found('fts_search_context', { query: 'choose database' }), [database]);
    assert.deepEqual(await found('fts_search_context', { query: 'transaction databases' }), [database]);
    assert.deepEqual(await found('fts_search_context', { query: 'cat database' }), []);
    assert.deepEqual(await found('fts_search_context', { query: 'where is the cat' }), [cat]);
    for (const query of ['"', '(', 'NOT', 'a AND', '*', 'NEAR(a b)', "o'clock", 'multi-agent', '大阪']) {
      assert.ok((await call('fts_search_context', { query })).results);
    }
    assert.match(await fail('fts_search_context', { query: '  ' }), /query cannot be empty/);
  });

  test('a sentence that no entry has in full finds entries with most of its words', async () => {
    const query = 'Which database did we choose for the invoices and billing?';
    const answer = await call('fts_search_context', { query, highlight: true });
    assert.deepEqual(
      [ids(answer), answer['relaxed'], answer['total'], answer['has_more']],
      [[database], true, 1, false],
    );
    assert.match(String(answer.results[0]?.['highlighted']), /<mark>database<\/mark>/);
    assert.match(String(answer['hint']), /No entry contains all of .*"database".*No entry contains "invoices"/);
    const full = await call('fts_search_context', { query: 'Which database did we choose for billing?' });
    assert.deepEqual([ids(full), full['relaxed'], full['hint']], [[database], undefined, undefined]);
    const elsewhere = await call('fts_search_context', { query, thread_id: 'home' });
    assert.equal(elsewhere['count'], 0);
    assert.match(
      String(elsewhere['hint']),
      /Without the query, the filters match 2 entries. No entry contains "invoices"/,
    );
  });

  test('operators as other search boxes have them, prefixes and phrases', async () => {
    const both = [cat, database].sort();
    const boolean = async (query: string) => (await found('fts_search_context', { query, mode: 'boolean' })).sort();
    for (const query of ['cat | database', 'cat or database', 'cat|database'])
      assert.deepEqual(await boolean(query), both);
    for (const query of [
      'database -sleeps',
      'NOT cat database',
      '!cat database',
      '-cat +database',
      'database & choose',
    ]) {
      assert.deepEqual(await boolean(query), [database], query);
    }
    assert.deepEqual(await boolean('cat -sleeps'), []);
    const alone = await call('fts_search_context', { query: '-cat', mode: 'boolean' });
    assert.equal(alone['count'], 0);
    assert.match(String(alone['hint']), /only exclusions/);
    const mistaken = await call('fts_search_context', { query: 'database -sleeps' });
    assert.match(String(mistaken['hint']), /mode boolean/);
    assert.deepEqual(await found('fts_search_context', { query: 'windo* slee*' }), [cat]);
    assert.deepEqual(await found('fts_search_context', { query: 'wi sl', mode: 'prefix' }), [cat]);
    const phrase = await call('fts_search_context', { query: 'miso sleeps', mode: 'phrase', highlight: true });
    assert.match(String(phrase.results[0]?.['highlighted']), /<mark>Miso sleeps<\/mark>/);
  });

  test('an empty answer explains why and what to try', async () => {
    const hint = async (tool: string, input: Record<string, unknown>) => {
      const answer = await call(tool, input);
      assert.ok(answer['count'] === 0 || answer['total_matches'] === 0, tool);
      return String(answer['hint']);
    };
    for (const tool of ['search_context', 'fts_search_context', 'semantic_search_context', 'hybrid_search_context']) {
      const query = tool === 'search_context' ? {} : { query: 'cat' };
      assert.match(await hint(tool, { ...query, thread_id: 'Wrok' }), /no thread "Wrok"; the closest is "work"/, tool);
      assert.match(await hint(tool, { ...query, thread_id: 'home', offset: 90 }), /offset 90 is past the last/, tool);
    }
    const search = (input: Record<string, unknown>) => hint('search_context', input);
    assert.match(await search({ tags: ['decisoin'] }), /tag "decisoin"; the closest is "decision"/);
    assert.match(await search({ metadata: { priority: '9' } }), /priority eq "9" matches no entry, but eq 9 matches 1/);
    assert.match(await search({ metadata: { done: 'true' } }), /eq true matches 1/);
    const owner = { key: 'owner.teams', operator: 'contains', value: 'core' };
    assert.equal((await call('search_context', { metadata_filters: [owner] }))['count'], 1);
    const teams = { metadata: { 'owner.teams': 'core' }, thread_id: 'home' };
    assert.match(await search(teams), /array_contains "core" matches 1: the field is a list/);
    assert.match(await search({ metadata: { colour: 'red' } }), /No entry has a metadata field colour/);
    assert.match(await search({ thread_id: 'home', tags: ['storage'] }), /separately they match: thread_id 2, tags 1/);
    assert.match(await search({ end_date: '2001-01-01' }), /end_date matches no entry/);
    assert.match(await hint('fts_search_context', { query: 'xylophone cat' }), /No entry contains "xylophone"/);
    assert.match(await hint('fts_search_context', { query: 'cat database' }), /Use fewer words/);
    assert.match(await hint('fts_search_context', { query: '!!!' }), /contains no searchable word; grep_context/);
    assert.match(await hint('fts_search_context', { query: 'xylo zeb', mode: 'prefix' }), /contains "xylo\*", "zeb\*"/);
    assert.match(
      await hint('grep_context', { pattern: 'POSTGRESQL' }),
      /No line in \d+ entries matches\. Try case_sensitive=false/,
    );
    assert.match(await hint('grep_context', { pattern: 'x', thread_id: 'hoem' }), /the closest is "home"/);
    assert.match(String((await call('list_threads', { filter: 'hoem' }))['hint']), /the closest is "home"/);
    assert.match(
      String((await call('get_context_by_ids', { context_ids: [987_654] }))['hint']),
      /No entry has any of these/,
    );
    assert.equal((await call('search_context', { thread_id: 'home' }))['hint'], undefined);
  });

  verifies('002 fts_search_context/prefix', 'finds words by prefix', async () => {
    assert.deepEqual(await found('fts_search_context', { query: 'trans bill', mode: 'prefix' }), [database]);
    assert.deepEqual(await found('fts_search_context', { query: 'windowsi*', mode: 'prefix' }), [cat]);
    assert.deepEqual(await found('fts_search_context', { query: 'trans' }), []);
  });

  verifies('002 fts_search_context/phrase', 'finds adjacent words in this order', async () => {
    assert.deepEqual(await found('fts_search_context', { query: 'database for billing', mode: 'phrase' }), [database]);
    assert.deepEqual(await found('fts_search_context', { query: 'billing for database', mode: 'phrase' }), []);
  });

  verifies('002 fts_search_context/boolean', 'supports AND, OR, NOT and parentheses', async () => {
    const boolean = (query: string) => found('fts_search_context', { query, mode: 'boolean' });
    assert.deepEqual((await boolean('cat OR database')).sort(), [database, cat].sort());
    assert.deepEqual(await boolean('(cat OR database) NOT billing'), [cat]);
    assert.deepEqual(await boolean('cat AND database'), []);
    assert.deepEqual(await boolean('cat database'), []);
  });

  verifies(
    ['002 fts_search_context/returns', '002 fts_search_context/highlight', '002 structure/scores'],
    'returns query, mode, language and scores, and highlights on request',
    async () => {
      const answer = await call('fts_search_context', { query: 'cat', highlight: true, explain: true });
      assert.deepEqual([answer['query'], answer['mode'], answer['count']], ['cat', 'match', 1]);
      assert.equal(typeof answer['language'], 'string');
      const [hit] = answer.results;
      assert.equal(hit?.['highlighted'], 'My <mark>cat</mark> Miso sleeps on the windowsill all day.');
      assert.deepEqual(Object.keys(hit?.scores ?? {}), ['fts_score', 'fts_rank']);
      assert.ok(Number(hit?.scores['fts_score']) > 0);
      assert.equal(hit?.scores['fts_rank'], null);
      const forged = await store('marks', 'forged <mark>this</mark> zeppelin');
      const [marked] = (await call('fts_search_context', { query: 'zeppelin', highlight: true })).results;
      assert.equal(marked?.['highlighted'], 'forged &lt;mark>this&lt;/mark> <mark>zeppelin</mark>');
      await call('delete_context', { context_ids: [forged] });
    },
  );

  verifies(
    ['002 hybrid_search_context/query', '002 hybrid_search_context/scores', '002 hybrid_search_context/rrf'],
    'adds up the ranks of both searches, and returns every score',
    async () => {
      const answer = await call('hybrid_search_context', {
        query: 'PostgreSQL billing database',
        rrf_k: 10,
        explain: true,
      });
      const [hit] = answer.results;
      assert.equal(hit?.id, database);
      const keys = ['rrf', 'rerank_score', 'fts_rank', 'semantic_rank', 'fts_score', 'semantic_distance'];
      for (const { scores } of answer.results) {
        assert.deepEqual(Object.keys(scores), keys);
        const rank = (value: number | null | undefined) => (value ? 1 / (10 + value) : 0);
        const expected = rank(scores['fts_rank']) + rank(scores['semantic_rank']);
        assert.ok(Math.abs(Number(scores['rrf']) - expected) < 0.001);
      }
      assert.deepEqual([hit?.scores['fts_rank'], hit?.scores['semantic_rank']], [1, 1]);
      for (const rrf_k of [0, 1001]) await fail('hybrid_search_context', { query: 'x', rrf_k });
      await fail('hybrid_search_context', { query: 'x', fusion_method: 'sum' });
    },
  );

  verifies('002 hybrid_search_context/returns', 'returns counts, modes and statistics', async () => {
    const { results, stats, ...rest } = await call('hybrid_search_context', { query: 'cat', explain_query: true });
    assert.equal(results[0]?.id, cat);
    assert.deepEqual(rest['search_modes_used'], ['fts', 'semantic']);
    assert.deepEqual([rest['fusion_method'], rest['fts_count'], rest['count']], ['rrf', 1, results.length]);
    assert.equal(rest['semantic_count'], 4);
    const { fusion_stats: fusion, ...others } = stats as Record<string, Record<string, unknown>>;
    assert.deepEqual(Object.keys(others), ['execution_time_ms', 'fts_stats', 'semantic_stats', 'adaptive_fts_mode']);
    assert.deepEqual(fusion, {
      rrf_k: 60,
      total_unique_documents: 4,
      documents_in_both: 1,
      documents_fts_only: 0,
      documents_semantic_only: 3,
    });
  });
}

onSqlite(
  'with the settings of contract §5 and an embedding server that is down',
  (server: ContextServer) => {
    verifies(
      '002 hybrid_search_context/degradation',
      'keeps writes, searches by words, and reports the fallback',
      async () => {
        const id = await server.store('t', 'kept although nobody embeds it');
        const answer = await server.call('hybrid_search_context', { query: 'kept nobody' });
        assert.deepEqual([answer.results[0]?.id, answer['degraded']], [id, 'meaning_unavailable']);
        assert.deepEqual(answer['search_modes_used'], ['fts']);
        assert.equal((answer['warnings'] as string[]).length, 1);
        const message = await server.fail('semantic_search_context', { query: 'kept' });
        assert.ok(!message.includes('ECONNREFUSED') && !message.includes('127.0.0.1:9'));
      },
    );

    verifies(
      ['002 structure/truncation', '002 structure/scores', '002 structure/summary'],
      'the settings are in force',
      async () => {
        const text = `zebra ${'stripes and more stripes. '.repeat(40)}`;
        const id = await server.store('t', text);
        const [entry] = (await server.call('search_context')).results;
        assert.ok((entry?.text_content.length ?? 0) <= 53);
        assert.equal(entry?.['summary'], '');
        const [word] = (await server.call('fts_search_context', { query: 'zebra' })).results;
        assert.deepEqual(Object.keys(word?.scores ?? {}), ['fts_score']);
        const [hit] = (await server.call('hybrid_search_context', { query: 'zebra' })).results;
        assert.deepEqual([hit?.id, hit?.scores['rerank_score'], hit?.scores['rrf']], [id, null, 0.167]);
        const { tools } = await server.client.listTools();
        assert.ok(!tools.some(({ name }) => name === 'delete_context_batch'));
        const data = Buffer.alloc(1024 * 1024 + 1).toString('base64');
        const input = { thread_id: 't', source: 'user', text: 'x', images: [{ data }] };
        assert.match(await server.fail('store_context', input), /Image 0 exceeds 1MB limit/);
      },
    );
  },
  {
    ...{ EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: 'http://127.0.0.1:9', EMBEDDING_MODEL: 'absent' },
    ENABLE_RERANKING: 'false',
    SEARCH_TRUNCATION_LENGTH: '50',
    ENABLE_SUMMARY_GENERATION: 'false',
    HYBRID_RRF_K: '5',
    MAX_IMAGE_SIZE_MB: '1',
    DISABLED_TOOLS: 'delete_context_batch',
  },
);
