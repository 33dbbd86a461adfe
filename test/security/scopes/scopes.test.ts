import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fakeModel } from '../../fakes/ollama.ts';
import { carrelProgram, type ListeningProgram, startListening } from '../../support/child-program.ts';
import { exchange, openSession, type RawSession } from '../../support/raw-http.ts';
import { runPiped } from '../../support/terminal.ts';
import { calls, elsewhere, type Probe } from './probes.ts';

const env = { ...(await fakeModel({ after })), ENABLE_SUMMARY_GENERATION: 'false' };

/** The data seeded for one side; every name and text contains its word. */
type Side = Omit<Probe, 'document' | 'note' | 'entry' | 'job' | 'upload'>;

const sideOf = (word: string): Side => ({
  word,
  collection: `${word}-papers`,
  thread: `${word}-thread`,
  tag: `${word}-tag`,
  path: `/${word}/file.txt`,
  text: `The ${word} harbour master keeps the ${word} ledger.`,
});

interface Caller {
  readonly session: RawSession;
  readonly headers: Record<string, string>;
}

describe('nothing leaks across the rights of tokens', { timeout: 300_000 }, () => {
  let dataDir: string;
  let program: ListeningProgram;
  let [admin, reader, writer]: Caller[] = [];
  const north = sideOf('kestrelmark');
  const south = sideOf('obsidianfox');
  let northProbe: Probe;
  let southProbe: Probe;
  const absent: Probe = {
    ...sideOf('quillwaters'),
    ...{ document: 41_901, note: 41_902, entry: 63_903, job: 52_904 },
    upload: '00000000-0000-4000-8000-000000000000',
  };

  const token = (...args: string[]): string => {
    const { status, stdout, stderr } = runPiped(dataDir, ['token', 'add', ...args], { env });
    assert.equal(status, 0, stderr);
    return stdout.trim();
  };
  const enter = async (secret: string): Promise<Caller> => {
    const headers = { authorization: `Bearer ${secret}` };
    return { headers, session: await openSession(program.url, '2025-11-25', { headers }) };
  };
  let requests = 0;
  const ask = async ({ session }: Caller, method: string, params: object): Promise<string> => {
    requests += 1;
    const { text } = await session.send({ jsonrpc: '2.0', id: 1, method, params });
    return text;
  };
  const call = (caller: Caller, name: string, args: object) => ask(caller, 'tools/call', { name, arguments: args });
  const data = async (caller: Caller, name: string, args: object): Promise<Record<string, never>> => {
    const parsed = JSON.parse(await call(caller, name, args));
    assert.equal(parsed.result?.isError, undefined, `${name} ${JSON.stringify(parsed)}`);
    return parsed.result.structuredContent;
  };
  const settled = async (): Promise<void> => {
    for (let round = 0; round < 600; round += 1) {
      const [{ queue, unembedded }, { semantic_search: meaning }] = await Promise.all([
        data(admin as Caller, 'kb_status', {}) as Promise<Record<string, unknown>>,
        data(admin as Caller, 'get_statistics', {}) as Promise<Record<string, unknown>>,
      ]);
      const { queued, processing } = queue as { queued: number; processing: number };
      if (queued + processing === 0 && unembedded === 0 && (meaning as { pending_count: number }).pending_count === 0)
        return;
      await pause(100);
    }
    assert.fail('ingestion did not end');
  };

  /** As the administrator: two documents (one a file), entries (one removed again), and an unfinished upload. */
  const seed = async (side: Side): Promise<Probe> => {
    const whole = admin as Caller;
    const filing = { collection: side.collection, tags: [side.tag], title: `${side.word} title` };
    const added = await data(whole, 'kb_addnote', { text: side.text, ...filing });
    const bytes = Buffer.from(`${side.word} file, ${side.text}`);
    const start = { filename: `${side.word}.txt`, total_size: bytes.length, source_path: side.path, ...filing };
    const { upload_id: upload } = await data(whole, 'kb_upload_start', start);
    await data(whole, 'kb_upload_chunk', { upload_id: upload, chunk_index: 0, data: bytes.toString('base64') });
    await data(whole, 'kb_upload_finish', { upload_id: upload });
    const open = await data(whole, 'kb_upload_start', { ...start, filename: `${side.word}-open.txt` });
    const entry = { thread_id: side.thread, source: 'user', tags: [side.tag], metadata: { owner: side.word } };
    const stored = await data(whole, 'store_context', {
      ...entry,
      text: side.text,
      idempotency_key: `${side.word} key`,
    });
    const gone = await data(whole, 'store_context', {
      ...entry,
      text: `${side.word} removed`,
      idempotency_key: side.word,
    });
    await data(whole, 'delete_context', { context_ids: [gone['context_id']] });
    await settled();
    const { documents } = (await data(whole, 'kb_list', { collection: side.collection })) as unknown as {
      documents: { document_id: number; type: string }[];
    };
    const idOf = (isNote: boolean) => documents.find(({ type }) => (type === 'note') === isNote)?.document_id ?? 0;
    return {
      ...side,
      document: idOf(false),
      note: idOf(true),
      entry: stored['context_id'] ?? 0,
      job: added['job_id'] ?? 0,
      upload: String(open['upload_id']),
    };
  };

  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'carrel-test-'));
    const scope = (side: Side) => ['--collections', side.collection, '--threads', side.thread];
    const secrets = [
      token('admin'),
      token('reader', '--toolsets', 'context,kb,find', '--read-only', ...scope(north)),
      token('writer', '--toolsets', 'context,kb,find', ...scope(south)),
    ];
    raiseIds(join(dataDir, 'carrel.db'));
    program = await startListening(carrelProgram, ['serve', '--data-dir', dataDir], env);
    [admin, reader, writer] = await Promise.all(secrets.map(enter));
    northProbe = await seed(north);
  });
  after(async () => {
    assert.equal(await program.stop(), 0);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  });

  const pagesOf = ({ document, entry, thread, word, collection }: Probe): string[] => [
    ...['/', `/?q=${word}`, '/documents', `/documents?collection=${collection}`, `/documents/${document}`, '/notes'],
    ...['/memories', `/memories?thread=${thread}`, `/memories/entry/${entry}`, '/jobs', '/sources', '/activity'],
    ...['/connect', '/settings'],
  ];
  const page = async (caller: Caller, path: string): Promise<string> => {
    requests += 1;
    const { status, text } = await exchange(new URL(path, program.url).href, {
      method: 'GET',
      headers: caller.headers,
    });
    return `${status} ${text}`;
  };

  /** Everything that a caller can read with these names: tools, resources, prompts, completions and pages. */
  const readAll = async (caller: Caller, probe: Probe, skips: RegExp): Promise<Map<string, string>> => {
    const answers = new Map<string, string>();
    const note = async (name: string, answer: Promise<string>): Promise<void> => void answers.set(name, await answer);
    for (const [name, argumentsFor] of Object.entries(calls)) {
      if (skips.test(name)) continue;
      for (const [index, args] of argumentsFor(probe).entries())
        await note(`${name} ${index}`, call(caller, name, args));
    }
    await note('resources/list', ask(caller, 'resources/list', {}));
    await note('resources/templates/list', ask(caller, 'resources/templates/list', {}));
    for (const uri of [`carrel://kb/doc/${probe.document}`, `carrel://context/${probe.entry}`, 'carrel://notes/1']) {
      await note(`resources/read ${uri.slice(0, 12)}`, ask(caller, 'resources/read', { uri }));
    }
    await note('prompts/list', ask(caller, 'prompts/list', {}));
    for (const { name, arguments: wanted = [] } of prompts) {
      for (const argument of wanted) {
        const typed = { name: argument.name, value: probe.word.slice(0, 4) };
        await note(
          `complete ${name} ${argument.name}`,
          ask(caller, 'completion/complete', { ref: { type: 'ref/prompt', name }, argument: typed }),
        );
      }
      const filled = Object.fromEntries(wanted.map((argument) => [argument.name, probe.thread]));
      await note(`prompt ${name}`, ask(caller, 'prompts/get', { name, arguments: filled }));
    }
    for (const uri of ['carrel://kb/doc/{id}', 'carrel://context/{id}', 'carrel://context/{id}/images/{number}']) {
      const argument = { name: 'id', value: '' };
      await note(
        `complete ${uri}`,
        ask(caller, 'completion/complete', { ref: { type: 'ref/resource', uri }, argument }),
      );
    }
    for (const [index, path] of pagesOf(probe).entries()) await note(`page ${index}`, page(caller, path));
    return answers;
  };
  let prompts: { name: string; arguments?: { name: string }[] }[] = [];
  const byMeaning = /^(find|semantic_search_context|hybrid_search_context|kb_search|page 1) ?/;
  const records = /^(kb_jobs [01]|page (9|10))$/;
  const writes = /^(store_|update_|delete_|restore_|kb_(addnote|update|upload|delete|set_|bulk))/;

  it('every listed tool is called here, and tools of other toolsets are not offered', async () => {
    const names = async (caller: Caller): Promise<string[]> =>
      JSON.parse(await ask(caller, 'tools/list', {})).result.tools.map(({ name }: { name: string }) => name);
    const all = await names(admin as Caller);
    assert.deepEqual(
      all.filter((name) => !elsewhere.test(name)).sort(),
      Object.keys(calls).sort(),
      'a tool without a call in probes.ts',
    );
    assert.deepEqual(
      (await names(writer as Caller)).filter((name) => elsewhere.test(name)),
      [],
    );
    assert.deepEqual(
      (await names(reader as Caller)).filter((name) => writes.test(name)),
      [],
    );
    prompts = JSON.parse(await ask(admin as Caller, 'prompts/list', {})).result.prompts;
  });

  it("others' additions, changes and deletions change no answer", async (t: TestContext) => {
    const first = requests;
    const before = await readAll(reader as Caller, northProbe, /$^/);
    // If all answers were rejections, they would be equal as well.
    for (const name of ['kb_search 1', 'search_context 0', 'fts_search_context 0', 'page 4']) {
      assert.ok(
        before.get(name)?.includes('harbour master'),
        `${name} shows nothing of one's own: ${before.get(name)}`,
      );
    }
    assert.ok(before.get('complete carrel://kb/doc/{id}')?.includes(`"${northProbe.document}"`));
    assert.ok(before.get('complete carrel://context/{id}')?.includes(`"${northProbe.entry}"`));
    southProbe = await seed(south);
    await seed(sideOf('thunderjug'));
    const afterwards = await readAll(reader as Caller, northProbe, /$^/);
    // The list of one's own calls has grown.
    const ownCalls = `page ${pagesOf(northProbe).indexOf('/activity')}`;
    for (const [name, answer] of before) {
      if (name !== ownCalls) assert.equal(shown(afterwards.get(name) ?? ''), shown(answer), name);
    }
    assert.doesNotMatch(afterwards.get(ownCalls) ?? south.word, new RegExp(`${south.word}|thunderjug`));
    t.diagnostic(`${requests - first} requests compared`);
  });

  it('another caller’s data answers exactly like missing data', async (t: TestContext) => {
    const first = requests;
    const pairs: [Caller, Probe, string][] = [
      [reader as Caller, southProbe, south.word],
      [writer as Caller, northProbe, north.word],
    ];
    for (const [caller, foreign, word] of pairs) {
      const theirs = await readAll(caller, foreign, /^kb_add(?:note)?$/);
      const nothing = await readAll(caller, absent, /^kb_add(?:note)?$/);
      for (const [name, answer] of theirs) {
        // Semantic neighbours depend on the words of the question, and the record of a caller's attempts grows.
        const isAlike = !byMeaning.test(name) && !(caller === writer && records.test(name));
        if (isAlike) assert.equal(masked(answer, foreign), masked(nothing.get(name) ?? '', absent), name);
        assert.equal(withoutGiven(answer, foreign).includes(word), false, `${name}: ${answer}`);
      }
    }
    t.diagnostic(`${requests - first} requests compared`);
  });

  it('the engine’s own API reveals no more (contract §6)', async (t: TestContext) => {
    const first = requests;
    const engine = await startListening(carrelProgram, ['engine', '--data-dir', dataDir], {
      ...env,
      EMBEDDING_PROVIDER: 'none',
    });
    const answer = async ({ headers }: Caller, [method, path, body]: EngineRequest): Promise<string> => {
      requests += 1;
      const url = `${engine.url}${path}`;
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const { status, text } = await exchange(url, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        ...json,
      });
      return `${status} ${text}`;
    };
    try {
      const pairs: [Caller, Probe, string][] = [
        [reader as Caller, southProbe, south.word],
        [writer as Caller, northProbe, north.word],
      ];
      for (const [caller, foreign, word] of pairs) {
        const nothing = engineRequests(absent);
        for (const [index, request] of engineRequests(foreign).entries()) {
          const name = request.slice(0, 2).join(' ');
          const theirs = await answer(caller, request);
          const none = await answer(caller, nothing[index] as EngineRequest);
          assert.equal(withoutGiven(theirs, foreign).includes(word), false, `${name}: ${theirs}`);
          assert.equal(masked(theirs, foreign), masked(none, absent), name);
        }
      }
    } finally {
      assert.equal(await engine.stop(), 0);
    }
    t.diagnostic(`${requests - first} requests compared`);
  });

  it("others' content is not a duplicate, and is ingested again", async () => {
    const given = await data(writer as Caller, 'kb_addnote', { text: north.text });
    assert.equal(given['status'], 'queued');
    const again = await data(writer as Caller, 'kb_addnote', { text: north.text });
    assert.equal(again['status'], 'duplicate');
    await settled();
    const found = (await data(writer as Caller, 'kb_search', { query: north.text })) as unknown as {
      results: { document_id: number; collection: string; text: string }[];
    };
    assert.deepEqual([...new Set(found.results.map(({ collection }) => collection))], [south.collection]);
    const own = found.results.find(({ text }) => text.includes(north.text));
    const theirs = (await data(reader as Caller, 'kb_get', { document_id: northProbe.note })) as Record<
      string,
      unknown
    >;
    const mine = await data(writer as Caller, 'kb_get', { document_id: own?.document_id });
    assert.equal(mine['content_hash'], theirs['content_hash']);
    const key = { thread_id: south.thread, source: 'user', text: 'mine', idempotency_key: `${north.word} key` };
    assert.notEqual((await data(writer as Caller, 'store_context', key))['context_id'], northProbe.entry);
  });

  it('after all that, nothing of others is changed', async () => {
    const now = (await data(admin as Caller, 'kb_list', { collection: north.collection })) as unknown as {
      documents: { document_id: number; tags: string[] }[];
    };
    assert.deepEqual(
      now.documents.map(({ document_id: id }) => id).sort(),
      [northProbe.document, northProbe.note].sort(),
    );
    for (const { tags } of now.documents) assert.deepEqual(tags, [north.tag]);
    const entries = (await data(admin as Caller, 'search_context', { thread_id: north.thread })) as unknown as {
      results: { id: number; tags: string[] }[];
    };
    assert.deepEqual(
      entries.results.map(({ id, tags }) => [id, tags]),
      [[northProbe.entry, [north.tag]]],
    );
  });
});

type EngineRequest = [method: string, path: string, body?: object];

function engineRequests(probe: Probe): EngineRequest[] {
  const { document, note, job, collection, path, tag, word, text } = probe;
  return [
    ['GET', '/status'],
    ['GET', '/tags'],
    ['GET', '/documents'],
    ['GET', `/documents?tags=${encodeURIComponent(`collection:${collection}`)}`],
    ['GET', `/documents?tags=${tag}`],
    ['GET', `/documents?source_path=${encodeURIComponent(path)}`],
    ['GET', `/documents?query=${word}`],
    ['GET', `/documents/${document}`],
    ['GET', `/documents/${document}/file`],
    ['GET', `/jobs?limit=100`],
    ['GET', `/jobs/${job}`],
    ['DELETE', `/jobs/${job}`],
    ['POST', '/search', { query: word }],
    ['POST', '/search', { query: 'harbour', tags: [`collection:${collection}`] }],
    ['DELETE', `/documents/${document}`],
    ['PATCH', `/documents/${document}`, { source_path: '/elsewhere' }],
    ['PUT', `/documents/${document}/tags`, { add: ['n'] }],
    ['PATCH', `/notes/${note}`, { text }],
    ['POST', `/documents/${document}/restore`],
    ['POST', '/bulk/delete', { document_ids: [document], force: true }],
    ['POST', '/bulk/tags', { tags: [tag], add: ['n'], force: true }],
    ['POST', '/bulk/replace-tags', { document_ids: [note], replaces: 'non_collections', add: ['n'], force: true }],
    ['POST', '/bulk/set-tags', { document_ids: [note], set_tags: ['n'], force: true }],
  ];
}

/** Ensures that no id equals a count. */
function raiseIds(file: string): void {
  const database = new DatabaseSync(file);
  const firsts = { kb_documents: 41_000, kb_jobs: 52_000, context_entries: 63_000, kb_passages: 74_000 };
  for (const [table, first] of Object.entries(firsts)) {
    database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table);
    database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table, first);
  }
  database.close();
}

/** Removes values that change over time, and ranking figures, which depend on word frequencies. */
function shown(answer: string): string {
  return answer
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?/g, 'TIME')
    .replace(/>(just now|\d+ (minute|hour)s? ago)</g, '>TIME<')
    .replace(/(_ms\\?":)[\d.]+(e-\d+)?/g, '$1FIGURE')
    .replace(/\d+\.\d+(e-\d+)?/g, 'FIGURE')
    .replace(/\d+ (ms|s|min|h)\b/g, 'SPAN')
    .replace(/"relevance\\?":[\d.]+/g, 'RELEVANCE');
}

/** Also masks the names and numbers in the call. */
function masked(answer: string, probe: Probe): string {
  const told = shown(withoutGiven(answer, probe)).replace(/\b52\d{3}\b/g, 'JOB');
  return told.replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, 'UUID');
}

function withoutGiven(answer: string, probe: Probe): string {
  const given = Object.values(probe)
    .flatMap((value) => [String(value), encodeURIComponent(String(value)), String(value).replaceAll('/', '&#47;')])
    .concat(`${probe.word.slice(0, -1)}x`, probe.word.slice(0, 4))
    .sort((a, b) => b.length - a.length);
  return given.reduce((text, each) => text.replaceAll(each, 'GIVEN'), answer);
}
