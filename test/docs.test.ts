import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { generatedFiles } from '../scripts/docs.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

test('the generated pages and the tool snapshot match the code (run `npm run docs`)', async () => {
  for (const [file, content] of Object.entries(await generatedFiles())) {
    assert.equal(read(file), content, `${file} is out of date`);
  }
});

interface Schema {
  type?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

/** Metadata is free-form; the others are lists of free objects in 002 as well. */
const freeForm = new Set(['metadata', 'metadata_patch', 'metadata_filters[]', 'images[]', 'entries[]', 'updates[]']);

const takenKeywords = new Set([
  ...['type', 'properties', 'required', 'items', 'anyOf', 'enum', 'const', 'default', 'description', 'pattern'],
  ...['additionalProperties', 'minimum', 'maximum', 'minItems', 'maxItems', 'minLength', 'maxLength'],
]);

test('contract §8: strict function calling accepts the arguments of every tool: one type each, free objects only where needed', () => {
  const look = (schema: Schema, path: string, name: string): void => {
    const { type, properties, items, anyOf = [] } = schema;
    const unknown = Object.keys(schema).filter((key) => !takenKeywords.has(key));
    assert.deepEqual(unknown, [], path);
    assert.ok(anyOf.length > 0 || typeof type === 'string', `${path} has no one type`);
    if (type === 'object' && properties === undefined) assert.ok(freeForm.has(name), `${path} is free-form`);
    for (const [key, each] of Object.entries(properties ?? {})) look(each, `${path}.${key}`, key);
    if (items) look(items, `${path}[]`, `${name}[]`);
    for (const each of anyOf) look(each, `${path}|`, name);
  };
  const roles: Record<string, { name: string; inputSchema: Schema }[]> = JSON.parse(read('test/snapshots/tools.json'));
  for (const tool of Object.values(roles).flat()) look(tool.inputSchema, tool.name, '');
});

test('docs/dependencies.md lists every dependency and why it was chosen', () => {
  const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = JSON.parse(read('package.json'));
  const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const rows = read('docs/dependencies.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const missing = names.filter((name) => !rows.some((row) => row.includes(`\`${name}\``)));
  assert.deepEqual(missing, []);
});

test('the lock file names no registry, every entry has a hash, and nothing comes from git or a URL', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version?: string; resolved?: string; integrity?: string; link?: boolean }>;
  };
  for (const [path, entry] of Object.entries(packages)) {
    if (path === '') continue;
    assert.equal(entry.resolved, undefined, path);
    assert.ok(entry.integrity, path);
  }
  const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = JSON.parse(read('package.json'));
  for (const [name, range] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
    assert.match(String(range), /^(npm:@[a-z]+\/[a-z]+@)?\d+\.\d+\.\d+(-[a-z0-9.]+)?$/, name);
  }
});
