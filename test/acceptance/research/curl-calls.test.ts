import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { usualResults } from '../../fakes/search-providers/search-pages.ts';
import { withModels } from '../../support/child-program.ts';
import { verifies } from '../../support/verifies.ts';
import { startResearch } from './research-fixture.ts';

const { carrel, rpc, site } = await startResearch(withModels);

/** Runs a documented call; only the server's address is replaced. */
async function shell(command: string): Promise<{ jsonrpc: string; id: string; result: never; error: never }> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll('http://localhost:3001', localOrigin)]);
  return JSON.parse(stdout);
}

const localOrigin = carrel.origin.replace('127.0.0.1', 'localhost');

verifies('004 api/health', 'the curl call returns status, timestamp and version', async () => {
  const health: Record<string, unknown> = await shell('curl -s http://localhost:3001/health');
  assert.deepEqual(Object.keys(health), ['status', 'timestamp', 'version', 'search_provider']);
  assert.equal(health['status'], 'ok');
  assert.match(String(health['timestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.match(String(health['version']), /^\d+\.\d+\.\d+/);
  assert.equal(health['search_provider'], 'duckduckgo');
});

verifies(
  ['004 api/tools-list', '004 overview/tools', '004 api/mcp'],
  'the curl call lists the five tools of 004 first',
  async () => {
    const answer = await shell(`curl -s -X POST http://localhost:3001/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "method": "tools/list",
    "params": {},
    "id": "1"
  }'`);
    const { tools }: { tools: { name: string; inputSchema: { type: string } }[] } = answer.result;
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['web_search', 'fetch_page', 'save_note', 'list_notes', 'get_note', 'update_note', 'delete_note'],
    );
    assert.ok(tools.every(({ inputSchema }) => inputSchema.type === 'object'));
    assert.equal(answer.id, '1');
  },
);

verifies(
  ['004 web_search/example', '004 web_search/response', '004 api/request', '004 api/success'],
  'the curl call returns the documented bare object',
  async () => {
    const answer = await shell(`curl -s -X POST http://localhost:3001/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "method": "tools/call",
    "params": {
      "name": "web_search",
      "arguments": {
        "query": "Python programming",
        "limit": 3
      }
    },
    "id": "1"
  }'`);
    assert.deepEqual(answer, {
      jsonrpc: '2.0',
      result: {
        results: usualResults.slice(0, 3),
        provider: 'duckduckgo',
        query: 'Python programming',
        origin: 'web',
      },
      id: '1',
    });
  },
);

verifies(
  ['004 fetch_page/example', '004 fetch_page/response'],
  'the curl call, for a local page, returns the documented fields',
  async () => {
    const answer = await shell(
      `curl -s -X POST http://localhost:3001/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "method": "tools/call",
    "params": {
      "name": "fetch_page",
      "arguments": {
        "url": "https://docs.python.org/3/",
        "max_chars": 10000,
        "extract_mode": "text"
      }
    },
    "id": "1"
  }'`.replace('https://docs.python.org/3/', `${site.origin}/article`),
    );
    const page: Record<string, unknown> = answer.result;
    assert.equal(page['url'], `${site.origin}/article`);
    assert.equal(page['title'], 'How a crane works');
    assert.match(String(page['content']), /^How a crane works\s+The crane lifts the stone/);
    assert.equal(page['content_length'], String(page['content']).length);
    assert.equal(page['truncated'], false);
  },
);

let savedId = '';

verifies(['004 save_note/example', '004 save_note/response'], 'the curl call saves the note and shows it', async () => {
  const answer = await shell(`curl -s -X POST http://localhost:3001/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "method": "tools/call",
    "params": {
      "name": "save_note",
      "arguments": {
        "title": "Python Overview",
        "content": "Python is a versatile programming language...",
        "tags": ["python", "programming"],
        "source_urls": ["https://python.org"]
      }
    },
    "id": "1"
  }'`);
  const { note }: { note: Record<string, unknown> } = answer.result;
  const { id, created_at: created, updated_at: updated, ...rest } = note;
  assert.deepEqual(rest, {
    title: 'Python Overview',
    content: 'Python is a versatile programming language...',
    tags: ['python', 'programming'],
    source_urls: ['https://python.org'],
    origin: 'web',
  });
  assert.match(String(id), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.match(String(created), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(updated, created);
  savedId = String(id);
});

verifies(['004 list_notes/example', '004 list_notes/response'], 'both curl calls list the note', async () => {
  const searched = await shell(`curl -s -X POST http://localhost:3001/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "method": "tools/call",
    "params": {
      "name": "list_notes",
      "arguments": {
        "query": "python",
        "limit": 10,
        "offset": 0
      }
    },
    "id": "1"
  }'`);
  const { notes, ...page }: { notes: Record<string, unknown>[] } = searched.result;
  assert.deepEqual(page, { count: 1, total_count: 1, has_more: false, limit: 10, offset: 0 });
  assert.deepEqual(Object.keys(notes[0] ?? {}), [
    'id',
    'title',
    'tags',
    'origin',
    'created_at',
    'snippet',
    'relevance',
  ]);
  assert.equal(notes[0]?.['id'], savedId);
  assert.equal(notes[0]?.['snippet'], 'Python is a versatile programming language...');

  const tagged = await shell(`curl -s -X POST http://localhost:3001/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "method": "tools/call",
    "params": {
      "name": "list_notes",
      "arguments": {
        "tags": ["programming"]
      }
    },
    "id": "1"
  }'`);
  const list: { count: number; limit: number } = tagged.result;
  assert.equal(list.count, 1);
  assert.equal(list.limit, 20);
});

verifies(['004 get_note/example', '004 get_note/response'], 'the curl call returns the note', async () => {
  const call = `curl -s -X POST http://localhost:3001/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "method": "tools/call",
    "params": {
      "name": "get_note",
      "arguments": {
        "id": "550e8400-e29b-41d4-a716-446655440000"
      }
    },
    "id": "1"
  }'`;
  const missing: { error: { code: number; data: { code: string } } } = await shell(call);
  assert.equal(missing.error.code, -32_000);
  assert.equal(missing.error.data.code, 'note_not_found');
  const { note }: { note: { id: string; title: string } } = (
    await shell(call.replace('550e8400-e29b-41d4-a716-446655440000', savedId))
  ).result;
  assert.equal(note.id, savedId);
  assert.equal(note.title, 'Python Overview');
});

verifies(
  '004 api/error',
  'an error has the code -32000, a readable message, and data with code and details',
  async () => {
    const answer = await rpc.callTool('get_note', { id: 'nonsense' });
    assert.deepEqual(Object.keys(answer).toSorted(), ['error', 'id', 'jsonrpc']);
    assert.equal(answer.error?.code, -32_000);
    assert.match(answer.error?.message ?? '', /[a-z]{3}/);
    assert.deepEqual(Object.keys(answer.error?.data ?? {}), ['code', 'details']);
  },
);

verifies('004 api/mcp', 'answers invalid JSON-RPC with a JSON-RPC error and status 200', async () => {
  const cases: [body: string, code: number][] = [
    ['{ not json', -32_700],
    ['{"method":"tools/list","id":1}', -32_600],
    ['{"jsonrpc":"2.0","method":"no/such","id":1}', -32_601],
    ['{"jsonrpc":"2.0","method":"tools/call","params":{},"id":1}', -32_602],
    ['{"jsonrpc":"2.0","method":"tools/call","params":{"name":"no_such"},"id":1}', -32_602],
  ];
  for (const [body, code] of cases) {
    const { status, answer } = await rpc.post(body);
    assert.equal(status, 200, body);
    assert.equal(answer.error?.code, code, body);
  }
});
