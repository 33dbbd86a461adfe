import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const drawn = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').match(
  /<!-- direction -->\n(.*?)<!-- \/direction -->/s,
)?.[1];
const order = [...(drawn ?? '').matchAll(/^- `([a-z-]+)`/gm)].map((match) => match[1] ?? '');

const imports = globSync('src/**/*.ts', { cwd: root }).flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import) ?\(?'([^']+)'/g)].map((match) => ({ file, target: match[1] ?? '' }));
});

function folderOf(path: string): string {
  return path.split('/')[1] ?? '';
}

test('every folder of src is in the list in ARCHITECTURE.md', () => {
  const folders = new Set(globSync('src/**/*.ts', { cwd: root }).map(folderOf));
  assert.ok(order.length > 5, 'the list was not found');
  assert.deepEqual(
    [...folders].filter((folder) => !order.includes(folder)),
    [],
  );
});

test('imports point down the list, and toolsets never import one another', () => {
  const wrong = imports.flatMap(({ file, target }) => {
    if (!target.startsWith('.')) return [];
    const to = normalize(join(dirname(file), target));
    if (file.endsWith('.test.ts') && /^(?:test|scripts)\//.test(to)) return [];
    const rank = (path: string): number => order.indexOf(folderOf(path));
    const across =
      folderOf(file) === 'toolsets' && folderOf(to) === 'toolsets' && file.split('/')[2] !== to.split('/')[2];
    return rank(to) < rank(file) || across ? [`${file} imports ${to}`] : [];
  });
  assert.deepEqual(wrong, []);
});

test('no circular imports, not even for types', () => {
  const targets = Map.groupBy(imports, ({ file }) => file);
  const circles: string[] = [];
  const isDone = new Map<string, boolean>();
  const visit = (file: string, path: readonly string[]): void => {
    if (isDone.get(file) === false) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (isDone.has(file)) return;
    isDone.set(file, false);
    for (const { target } of targets.get(file) ?? []) {
      if (target.startsWith('.')) visit(normalize(join(dirname(file), target)), [...path, file]);
    }
    isDone.set(file, true);
  };
  for (const file of targets.keys()) visit(file, []);
  assert.deepEqual(circles, []);
});

test('only src/mcp imports the MCP SDK', () => {
  const wrong = imports.filter(
    ({ file, target }) => target.startsWith('@modelcontextprotocol/') && folderOf(file) !== 'mcp',
  );
  assert.deepEqual(wrong, []);
});
