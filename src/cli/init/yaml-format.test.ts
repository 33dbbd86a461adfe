import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOutcome } from './server-entry.ts';
import { yamlFormat } from './yaml-format.ts';

const entryPath = {
  servers: 'mcpServers',
  name: 'carrel',
  initialText: 'name: Local Config\nversion: 1.0.0\nschema: v1\n',
};
const entry = { name: 'carrel', command: '/usr/bin/node', args: ['/opt/carrel/bin/carrel.js', 'serve'] };
const item = `  - name: carrel
    command: /usr/bin/node
    args:
      - /opt/carrel/bin/carrel.js
      - serve
`;

const set = (text: string, newEntry: Record<string, unknown> = entry) => yamlFormat.set(text, entryPath, newEntry);
const remove = (text: string) => yamlFormat.remove(text, entryPath);

const config = `name: Local Config # mine
version: 1.0.0
schema: v1

models:
  - name: Llama
    provider: ollama
    model: llama3.1:8b   # local

mcpServers:
  # files of the project
  - name: Files
    command: npx
    args: ["-y", "server-filesystem"]
    env: {A: "1"} # last

context:
  - provider: code
`;

test('appends our item, keeps everything else, and removal restores the file', async () => {
  const written = await set(config);
  assert.equal(written, config.replace('{A: "1"} # last\n', `{A: "1"} # last\n${item}`));
  assert.equal(await set(written), written);
  assert.equal(await remove(written), config);
  const crlf = config.replaceAll('\n', '\r\n');
  assert.equal(await set(crlf), written.replaceAll('\n', '\r\n'));
  assert.equal(await remove(await set(crlf)), crlf);
});

test('creates a valid Continue file from a missing or empty one', async () => {
  assert.equal(await set(''), `${entryPath.initialText}mcpServers:\n${item}`);
  assert.equal(await set('# mine\n'), `# mine\nmcpServers:\n${item}`);
});

test('handles a list that is missing, empty, null, unindented or inline', async () => {
  for (const text of [
    'name: a\n',
    'name: a',
    'mcpServers:\nname: a\n',
    'mcpServers: # none yet\nname: a\n',
    'mcpServers: [] # none yet\nname: a\n',
    'mcpServers: null\nname: a\n',
    'mcpServers: ~\n',
    'mcpServers:\n- name: b\n  command: x\nname: a\n',
    'mcpServers: [{name: b, command: x}]\nname: a\n',
    'mcpServers:\n  - name: carrel\n    command: /old/carrel.js\n  - name: b\n    command: |\n      x\n      y\nname: a\n',
    'mcpServers:\n    -   name: b\n        command: x\n',
  ]) {
    const written = await set(text);
    checkOutcome(await yamlFormat.read(text), await yamlFormat.read(written), entryPath, entry);
    const removed = await remove(written);
    checkOutcome(await yamlFormat.read(text), await yamlFormat.read(removed), entryPath, undefined);
    if (text.includes('# none yet')) assert.match(written, /# none yet\n/);
    // Continue refuses a list that is null.
    if (!/- +name/.test(removed)) assert.doesNotMatch(removed, /mcpServers:\s*(#.*)?$/m);
  }
});

test('rejects invalid YAML and unexpected structures with line and column', async () => {
  await assert.rejects(set('a: b: c\n'), { name: 'FileFault', line: 1 });
  await assert.rejects(set('a: 1\nb: [\n'), { name: 'FileFault' });
  await assert.rejects(set('- a\n'), { name: 'FileFault', line: 1, column: 1 });
  await assert.rejects(set('mcpServers: {a: b}\n'), { name: 'FileFault', line: 1 });
  await assert.rejects(set('mcpServers:\n- name: carrel\n- name: carrel\n'), { name: 'FileFault', line: 3 });
  await assert.rejects(set('a: 1\n---\nb: 2\n'), { name: 'FileFault' });
});

test('keeps comments around the only item when it is removed', async () => {
  const text = 'mcpServers: # mine\n  # about it\n  - name: carrel\n    command: carrel\n# the end\nname: a\n';
  assert.equal(await remove(text), 'mcpServers: [] # mine\n  # about it\n# the end\nname: a\n');
});
