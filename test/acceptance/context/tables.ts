import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { verifies } from '../../support/verifies.ts';
import type { Answer, ContextServer, Found } from './context-fixture.ts';

const tools = ['search_context', 'semantic_search_context', 'fts_search_context', 'hybrid_search_context'] as const;
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).toString('base64');

/** When a field is present: always, never, or on request (`explain_query`, `include_images`, `highlight`). */
type When = 'yes' | 'no' | 'asked';

/** "Search Tools Response Structure", row by row, in the order of `tools`. */
const responseRows: [clause: string, field: string, ...when: When[]][] = [
  ['002 response/results', 'results', 'yes', 'yes', 'yes', 'yes'],
  ['002 response/count', 'count', 'yes', 'yes', 'yes', 'yes'],
  ['002 response/query', 'query', 'no', 'yes', 'yes', 'yes'],
  ['002 response/stats', 'stats', 'asked', 'asked', 'asked', 'asked'],
  ['002 response/model', 'model', 'no', 'yes', 'no', 'no'],
  ['002 response/mode', 'mode', 'no', 'no', 'yes', 'no'],
  ['002 response/language', 'language', 'no', 'no', 'yes', 'no'],
  ['002 response/fusion_method', 'fusion_method', 'no', 'no', 'no', 'yes'],
  ['002 response/search_modes_used', 'search_modes_used', 'no', 'no', 'no', 'yes'],
  ['002 response/fts_count', 'fts_count', 'no', 'no', 'no', 'yes'],
  ['002 response/semantic_count', 'semantic_count', 'no', 'no', 'no', 'yes'],
];

/** "Entry Fields by Tool". */
const entryRows: [clause: string, fields: string[], type: string, ...when: When[]][] = [
  ['002 entry/id', ['id'], 'number', 'yes', 'yes', 'yes', 'yes'],
  ['002 entry/id', ['thread_id', 'source', 'content_type'], 'string', 'yes', 'yes', 'yes', 'yes'],
  ['002 entry/text_content', ['text_content'], 'string', 'yes', 'yes', 'yes', 'yes'],
  ['002 entry/summary', ['summary'], 'string', 'yes', 'yes', 'yes', 'yes'],
  ['002 entry/is_text_content_truncated', ['is_text_content_truncated'], 'boolean', 'yes', 'yes', 'yes', 'yes'],
  ['002 entry/metadata', ['metadata', 'tags'], 'object', 'yes', 'yes', 'yes', 'yes'],
  ['002 entry/metadata', ['created_at', 'updated_at'], 'string', 'yes', 'yes', 'yes', 'yes'],
  ['002 entry/images', ['images'], 'object', 'asked', 'asked', 'asked', 'asked'],
  ['002 entry/scores', ['scores'], 'object', 'no', 'yes', 'yes', 'yes'],
  ['002 entry/highlighted', ['highlighted'], 'string', 'no', 'no', 'asked', 'no'],
];

/** "Scores Object Structure" for semantic, full-text and hybrid search. `null`: the rank is always null. */
const scoreRows: [clause: string, field: string, ...has: ('number' | 'null' | 'no')[]][] = [
  ['002 scores/semantic_distance', 'semantic_distance', 'number', 'no', 'number'],
  ['002 scores/semantic_rank', 'semantic_rank', 'null', 'no', 'number'],
  ['002 scores/fts_score', 'fts_score', 'no', 'number', 'number'],
  ['002 scores/fts_rank', 'fts_rank', 'no', 'null', 'number'],
  ['002 scores/rrf', 'rrf', 'no', 'no', 'number'],
  ['002 scores/rerank_score', 'rerank_score', 'number', 'number', 'number'],
];

/** Every parameter that 002 lists: `!` if required, otherwise its default. */
const parameters: Record<string, Record<string, unknown>> = {
  store_context: { thread_id: '!', source: '!', text: '!', images: undefined, metadata: undefined, tags: undefined },
  search_context: {
    ...{ thread_id: undefined, source: undefined, tags: undefined, content_type: undefined, metadata: undefined },
    ...{ metadata_filters: undefined, start_date: undefined, end_date: undefined, limit: 30, offset: 0 },
    ...{ include_images: false, explain_query: false },
  },
  get_context_by_ids: { context_ids: '!', include_images: true },
  delete_context: { context_ids: undefined, thread_id: undefined },
  list_threads: {},
  get_statistics: {},
  update_context: {
    ...{ context_id: '!', text: undefined, metadata: undefined, metadata_patch: undefined, tags: undefined },
    images: undefined,
  },
  store_context_batch: { entries: '!', atomic: true },
  update_context_batch: { updates: '!', atomic: true },
  delete_context_batch: {
    ...{ context_ids: undefined, thread_ids: undefined, source: undefined, older_than_days: undefined },
  },
};
const ranked = { ...parameters['search_context'], query: '!', limit: 5 };
parameters['semantic_search_context'] = ranked;
parameters['fts_search_context'] = { ...ranked, mode: 'match', highlight: false };
parameters['hybrid_search_context'] = { ...ranked, fusion_method: 'rrf', rrf_k: undefined };

export function tablesOf002(server: ContextServer): void {
  const query = 'lighthouse keeper';
  const plain: Answer[] = [];
  const asked: Answer[] = [];

  before(async () => {
    await server.store(
      'tables',
      `The lighthouse keeper counts the ships. ${'He writes down each of them. '.repeat(30)}`,
      {
        images: [{ data: png }],
        metadata: { status: 'done' },
      },
    );
    for (const tool of tools) {
      const input = { thread_id: 'tables', ...(tool === 'search_context' ? {} : { query }) };
      plain.push(await server.callEmbedded(tool, input));
      const more = tool === 'fts_search_context' ? { highlight: true } : {};
      asked.push(await server.callEmbedded(tool, { ...input, explain_query: true, include_images: true, ...more }));
    }
  });

  const check = (index: number, field: string, when: When, objects: [plain: object, asked: object], clause: string) => {
    const expected = { yes: [true, true], no: [false, false], asked: [false, true] }[when];
    assert.deepEqual(
      objects.map((object) => field in object),
      expected,
      `${clause}: ${field} of ${tools[index]}`,
    );
  };
  const first = (answer: Answer | undefined): Found => {
    const [entry] = answer?.results ?? [];
    assert.ok(entry);
    return entry;
  };

  for (const [clause, field, ...whens] of responseRows) {
    verifies(clause, `the row "${field}" holds for each of the four tools`, () => {
      whens.forEach((when, index) => {
        check(index, field, when, [plain[index] ?? {}, asked[index] ?? {}], clause);
      });
    });
  }

  for (const [clause, fields, type, ...whens] of entryRows) {
    verifies(clause, `the row "${fields.join(', ')}" holds for each of the four tools`, () => {
      whens.forEach((when, index) => {
        const entries: [Found, Found] = [first(plain[index]), first(asked[index])];
        for (const field of fields) {
          check(index, field, when, entries, clause);
          if (when !== 'no') assert.equal(typeof entries[1][field], type, `${clause}: ${field}`);
        }
      });
    });
  }

  for (const [clause, field, ...has] of scoreRows) {
    verifies(clause, `the row "${field}" holds for the three tools with scores`, () => {
      has.forEach((kind, index) => {
        // A search alone explains its scores on request; a plain answer has the fields that clients of the original read.
        const { scores } = first(asked[index + 1]);
        const found = !(field in scores) ? 'no' : scores[field] === null ? 'null' : typeof scores[field];
        assert.equal(found, kind, `${clause} of ${tools[index + 1]}`);
      });
    });
  }

  test('002, every parameter of every tool: its name, whether it is required, its default', async () => {
    const listed = new Map((await server.client.listTools()).tools.map((tool) => [tool.name, tool.inputSchema]));
    assert.equal(Object.keys(parameters).length, 13);
    for (const [tool, wanted] of Object.entries(parameters)) {
      const schema = listed.get(tool);
      assert.ok(schema, tool);
      const properties = (schema.properties ?? {}) as Record<string, { default?: unknown }>;
      for (const [name, value] of Object.entries(wanted)) {
        assert.ok(name in properties, `${tool} takes ${name}`);
        assert.equal(schema.required?.includes(name) ?? false, value === '!', `${tool}: whether ${name} is required`);
        if (value !== '!') assert.deepEqual(properties[name]?.default, value, `${tool}: the default of ${name}`);
      }
    }
  });
}
