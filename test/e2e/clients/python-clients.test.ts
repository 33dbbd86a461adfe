import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { after, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseExact } from '../../../src/base/exact-json.ts';
import { carrelProgram, cleanEnv, makeFolder, startCarrel } from '../../support/child-program.ts';
import { pythonWith } from '../../support/python-clients.ts';

const clients = pythonWith('clients');
const langchain = pythonWith('langchain');
const script = (name: string) => fileURLToPath(new URL(`python/${name}`, import.meta.url));

interface Answer {
  data: Record<string, unknown> & { results: Record<string, unknown>[] };
  texts: string[];
  structured: Record<string, unknown>;
  failed: boolean;
}

/** The answers of `carrel serve` as a Python client returns them, in the order of the calls. */
async function callAll(t: TestContext, client: 'fastmcp' | 'mcp', place: string[], calls: unknown[]) {
  assert.ok('python' in clients);
  const child = spawn(clients.python, [script('call_tools.py'), client, ...place], {
    env: cleanEnv(makeFolder(t), { FASTMCP_CHECK_FOR_UPDATES: 'off' }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(JSON.stringify(calls));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const last = stdout.trim().split('\n').at(-1) ?? '';
  assert.ok(last.startsWith('['), `${client} failed: ${stderr.slice(-3000)}`);
  return parseExact(last) as Answer[];
}

function metadataOf(answer: Answer | undefined): unknown {
  const { result } = (answer?.structured ?? {}) as { result?: Record<string, unknown>[] };
  return result?.[0]?.['metadata'];
}

const ours = [process.execPath, carrelProgram, 'serve', '--transport', 'stdio'];
/** Too large for a double, but not for Python. */
const build = 1_234_567_890_123_456_789n;
const entry = { thread_id: 't', source: 'user', text: 'The pipeline was rewritten', metadata: { build } };

const skip = 'obstacle' in clients ? clients.obstacle : false;

/** The server of the clients over HTTP. */
const { url } = await startCarrel({ after }, ['serve', '--transport', 'http']);

describe('Python clients', () => {
  test("FastMCP's client over HTTP gives its user every field, in the form that the original's has", {
    skip,
  }, async (t) => {
    const answers = await callAll(
      t,
      'fastmcp',
      [url],
      [
        ['store_context', entry],
        ['store_context_batch', { entries: [{ ...entry, text: 'Another' }] }],
        ['get_statistics', {}],
        ['search_context', {}],
        ['search_context', { metadata_filters: [{ key: 'a', operator: 'none' }], explain_query: true }],
        ['get_context_by_ids', { context_ids: [1, 77] }],
        ['list_threads', {}],
        ['update_context', { context_id: 1, metadata_patch: { other: build + 1n } }],
        ['update_context_batch', { updates: [{ context_id: 1, tags: ['a'] }] }],
        ['fts_search_context', { query: 'pipelines' }],
        ['delete_context', { context_ids: [1] }],
        ['delete_context_batch', { thread_ids: ['t', 'none'] }],
        ['kb_addnote', { title: 'A note', text: 'Some text' }],
      ],
    );
    const [stored, batch, statistics, found, refused, got, threads, updated, updates, words, ...rest] = answers;
    const [deleted, deletedBatch, note] = rest;
    for (const { failed, texts } of answers) assert.equal(failed, false, texts[0]);

    // A class with attributes, as for the original, with every field that was sent.
    for (const answer of [stored, batch, threads, updated, updates, deletedBatch]) {
      const { '(class)': name, ...fields } = answer?.data ?? ({} as Answer['data']);
      assert.equal(name, 'Root');
      assert.deepEqual(
        Object.keys(answer?.structured ?? {}).filter((key) => !Object.hasOwn(fields, key)),
        [],
      );
    }
    assert.equal(batch?.data.results[0]?.['context_id'], 2);
    assert.equal(updates?.data.results[0]?.['success'], true);
    assert.deepEqual(deletedBatch?.data['missing_threads'], ['none']);

    // A dictionary with all fields.
    for (const answer of [statistics, found, refused, words, deleted, note]) {
      assert.deepEqual(answer?.data, answer?.structured);
    }
    assert.equal(found?.data['count'], 2);
    assert.equal(statistics?.data['total_entries'], 2);
    assert.ok(refused?.data['error'] && refused.data['validation_errors'] && refused.data['stats']);
    assert.equal(deleted?.data['deleted_count'], 1);
    assert.equal(note?.data['job_id'], 1);

    // A list; the text has the other fields as well.
    assert.deepEqual(got?.data, got?.structured['result']);
    assert.deepEqual(parseExact(got?.texts[0] ?? ''), got?.structured);
    assert.deepEqual(metadataOf(got), { build });
    assert.deepEqual(found?.data.results[1]?.['metadata'], { build });
    assert.deepEqual(got?.structured['missing_ids'], [77]);
  });

  test('the official client validates answers over stdio against their schemas', { skip }, async (t) => {
    const answers = await callAll(t, 'mcp', ours, [
      ['store_context', entry],
      ['get_context_by_ids', { context_ids: [1] }],
      ['get_statistics', {}],
      ['list_threads', {}],
      ['delete_context_batch', { thread_ids: ['t'], dry_run: true }],
      ['save_note', { title: 'A note', content: 'Some text' }],
      ['find', { query: 'pipeline' }],
      ['kb_status', {}],
      ['get_context_by_ids', { context_ids: [] }],
    ]);
    assert.deepEqual(
      answers.map(({ failed }) => failed),
      [...Array(8).fill(false), true],
    );
    const [, got] = answers;
    assert.equal(got?.texts.length, 1);
    assert.deepEqual(parseExact(got?.texts[0] ?? ''), got?.structured['result']);
    assert.deepEqual(metadataOf(got), { build });
  });

  test('contract §8: a LangChain agent calls tools, gets failures as results, and continues', {
    skip: 'obstacle' in langchain ? langchain.obstacle : false,
  }, async (t) => {
    assert.ok('python' in langchain);
    const child = spawn(langchain.python, [script('run_agent.py'), url], { env: cleanEnv(makeFolder(t)) });
    child.stdin.end(
      JSON.stringify([
        ['kb_get', { document_id: 99 }],
        ['fetch_page', { url: 'http://127.0.0.1:1/' }],
        ['get_note', { id: 'none' }],
        ['store_context', { thread_id: 't', source: 'agent', text: 'The bees came back in May' }],
        ['find', { query: 'bees' }],
      ]),
    );
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const last = stdout.trim().split('\n').at(-1) ?? '';
    assert.ok(last.startsWith('['), stderr.slice(-3000));
    const answers = JSON.parse(last) as { status: string; text: string }[];
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['error', 'error', 'error', 'success', 'success'],
    );
    assert.match(answers[0]?.text ?? '', /No document has the id 99/);
    const { results } = JSON.parse(answers[4]?.text ?? '{}');
    assert.equal(results[0].snippet, 'The bees came back in May');
  });
});
