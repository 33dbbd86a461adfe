import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { size } from '../../../test/support/sizes.ts';
import { jsonFormat } from './json-format.ts';
import { checkOutcome, findEntry, sameData } from './server-entry.ts';

const entryPath = { servers: 'mcpServers', name: 'carrel', initialText: '' };
const entry = { command: '/usr/bin/node', args: ['/opt/carrel/bin/carrel.js', 'serve'] };

const set = (text: string, newEntry: Record<string, unknown> = entry) => jsonFormat.set(text, entryPath, newEntry);
const remove = (text: string) => jsonFormat.remove(text, entryPath);

test('keeps comments, order, layout and trailing commas of everything else', async () => {
  const text = `// my settings
{
  "theme": "dark", // not light
  /* servers */
  "mcpServers": {
    "github": { "command": "docker", "args": ["run"] }, // needs a token
    "files": {
      "command": "npx" // no comma behind this
    } // the last one
  },
  "after": [1, 2,],
}
`;
  const expected = `// my settings
{
  "theme": "dark", // not light
  /* servers */
  "mcpServers": {
    "github": { "command": "docker", "args": ["run"] }, // needs a token
    "files": {
      "command": "npx" // no comma behind this
    }, // the last one
    "carrel": {
      "command": "/usr/bin/node",
      "args": [
        "/opt/carrel/bin/carrel.js",
        "serve"
      ]
    }
  },
  "after": [1, 2,],
}
`;
  assert.equal(await set(text), expected);
  assert.equal(await set(expected), expected, 'a second time changes nothing');
  assert.equal(await remove(expected), text, 'and taken out, it is as it was');
});

test('keeps tabs, CRLF and a trailing comma', async () => {
  const text = '{\r\n\t"mcpServers": {\r\n\t\t"a": {},\r\n\t},\r\n}\r\n';
  const with_ = await set(text, { command: 'x' });
  assert.equal(
    with_,
    '{\r\n\t"mcpServers": {\r\n\t\t"a": {},\r\n\t\t"carrel": {\r\n\t\t\t"command": "x"\r\n\t\t},\r\n\t},\r\n}\r\n',
  );
  assert.equal(await remove(with_), text);
});

test('edits files that are empty or have only comments, an empty object or a single line', async () => {
  const expected = '{\n  "mcpServers": {\n    "carrel": {\n      "command": "x"\n    }\n  }\n}\n';
  assert.equal(await set('', { command: 'x' }), expected);
  assert.equal(await set(' \n', { command: 'x' }), expected);
  assert.equal(await set('// mine\n', { command: 'x' }), `// mine\n${expected}`);
  assert.equal(await set('{}', { command: 'x' }), expected.trimEnd());
  for (const text of [
    '{"a":1}',
    '{"mcpServers":{}}',
    '{ "mcpServers": { "b": {} } }',
    '{"a":1,"mcpServers":{/* none */}}',
    '{"a": [\n1\n]}',
  ]) {
    const written = await set(text);
    checkOutcome(await jsonFormat.read(text), await jsonFormat.read(written), entryPath, entry);
    const removed = await jsonFormat.read(await remove(written));
    checkOutcome(await jsonFormat.read(text), removed, entryPath, undefined);
  }
});

test("keeps the user's additions to our entry, with comments", async () => {
  const text = `{
  "mcpServers": {
    "carrel": {
      // an older place
      "command": "/old/node",
      "args": ["/old/bin/carrel.js"],
      "env": { "LOG_LEVEL": "debug" }, // keep
      "disabled": true
    }
  }
}
`;
  const written = await set(text, { ...entry, env: { LOG_LEVEL: 'debug' }, disabled: true });
  assert.match(written, /\/\/ an older place\n/);
  assert.match(written, /"env": \{ "LOG_LEVEL": "debug" \}, \/\/ keep\n/);
  assert.ok(
    sameData(findEntry(await jsonFormat.read(written), entryPath), {
      ...entry,
      env: { LOG_LEVEL: 'debug' },
      disabled: true,
    }),
    written,
  );
  const http = await set(text, { url: 'http://127.0.0.1:8737/mcp', disabled: true });
  assert.ok(
    sameData(findEntry(await jsonFormat.read(http), entryPath), { disabled: true, url: 'http://127.0.0.1:8737/mcp' }),
    http,
  );
});

test('rejects an unparseable file with line and column', async () => {
  for (const [text, line, column] of [
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ['{\r\n"a": tru\r\n}', 2, 6],
    ['{"a": "x', 1, 7],
    ['[]', 1, 1],
    ['"text"', 1, 1],
    ['{"mcpServers": []}', 1, 16],
    ['{"mcpServers": {"carrel": {}, "carrel": {}}}', 1, 31],
    ['{"mcpServers": {}, "mcpServers": {}}', 1, 20],
    [`${'['.repeat(100_000)}`, 1, undefined],
    ['{} {}', 1, 4],
  ] as const) {
    await assert.rejects(set(text), (error: { name: string; line: number; column: number }) => {
      assert.equal(error.name, 'FileFault');
      assert.equal(error.line, line, text.slice(0, 60));
      if (column !== undefined) assert.equal(error.column, column, text.slice(0, 60));
      return true;
    });
  }
});

test('changes only our entry, in any file', async () => {
  const name = fc.oneof(fc.constantFrom('mcpServers', 'carrel', 'a', '//', '/* */', '"'), fc.string());
  const json = fc.dictionary(name, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
  const servers = fc.dictionary(name, fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })), { maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(json, fc.option(servers), fc.constantFrom(0, 1, 2, '\t'), async (others, listed, indent) => {
      const { mcpServers: _, ...rest } = others;
      const text = JSON.stringify(listed === null ? rest : { ...rest, mcpServers: listed }, null, indent);
      const written = await set(text);
      checkOutcome(await jsonFormat.read(text), await jsonFormat.read(written), entryPath, entry);
      checkOutcome(await jsonFormat.read(text), await jsonFormat.read(await remove(written)), entryPath, undefined);
    }),
    { numRuns: size({ quick: 100, full: 300 }) },
  );
});
