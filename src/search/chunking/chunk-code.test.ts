import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Chunk } from './chunk.ts';
import { chunkCode } from './chunk-code.ts';

const python = `#!/usr/bin/env python3
import os

LIMIT = 10


# How much oil there is.
@dataclass
class Lamp:
    """A lamp with a wick."""
    oil: int

    def light(self, hour):
        # The wick first.
        self.trim()
        if hour > 18:
            return self.oil
        else:
            return None

    @property
    def level(self):
        return self.oil / 920


def main():
    print(Lamp(3).light(20))
`;

import { size } from '../../../test/support/sizes.ts';

test('keeps a declaration that fits in one chunk with its comment and annotation', () => {
  const chunks = chunkCode(python, 'python', 240);
  const lamp = chunks.find(({ text }) => text.startsWith('# How much oil'));
  assert.match(lamp?.text ?? '', /@dataclass\nclass Lamp:/);
  const light = chunks.find(({ text }) => text.includes('def light'));
  assert.match(light?.text ?? '', /def light[\s\S]*return None$/);
  assert.deepEqual(light?.titlePath.slice(0, 1), ['Lamp']);
  assert.deepEqual(chunks.find(({ text }) => text.includes('def main'))?.titlePath, ['main']);
});

test('splits a long class between its methods, under its name', () => {
  const methods = Array.from(
    { length: 6 },
    (_, index) => `  method${index}(input) {\n    return input * ${index};\n  }\n`,
  );
  const chunks = chunkCode(`export class Sums {\n${methods.join('\n')}}\n`, 'typescript', 130);
  for (const { text, titlePath } of chunks) {
    assert.equal(titlePath[0], 'Sums');
    assert.equal(
      text.match(/\{/g)?.length,
      (text.match(/\}/g)?.length ?? 0) + (text.startsWith('export') ? 1 : text.endsWith('\n}') ? -1 : 0),
    );
  }
  assert.ok(chunks.some(({ titlePath }) => titlePath.join('.') === 'Sums.method3'));
});

test('finds names in many languages', () => {
  const samples: [string, string, string][] = [
    ['go', 'func (l *Lamp) Light(n int) error {\n\treturn nil\n}', '*Lamp) Light'],
    ['rust', 'impl Display for Lamp {\n    fn fmt(&self) {}\n}', 'Display for Lamp'],
    ['rust', 'pub fn light<T>(t: T) -> u8 {\n    1\n}', 'light'],
    ['java', 'public static void main(String[] args) {\n}', 'main'],
    ['c', 'static int *lamp_new(struct oil *o)\n{\n  return 0;\n}', 'lamp_new'],
    ['typescript', 'export const light = async (hour: number) => {\n  await hour;\n};', 'light'],
    ['sql', 'CREATE TABLE IF NOT EXISTS lamps (\n  id int\n);', 'lamps'],
    ['toml', '[tool.lamp]\noil = 3', 'tool.lamp'],
    ['css', '.lamp > .wick {\n  color: red;\n}', '.lamp > .wick'],
    ['ruby', 'def light?(hour)\n  true\nend', 'light?'],
    ['php', 'abstract class Lamp extends Light {\n}', 'Lamp'],
    ['kotlin', 'suspend fun light(hour: Int) {\n}', 'light'],
  ];
  for (const [language, code, name] of samples) {
    assert.deepEqual(chunkCode(code, language)[0]?.titlePath, [name], code);
  }
  assert.deepEqual(chunkCode('if (a) {\n  b();\n}', 'c')[0]?.titlePath, []);
});

test('splits YAML and JSON between keys, under the enclosing keys', () => {
  const yaml = Array.from({ length: 9 }, (_, index) => `service${index}:\n  image: lamp\n  port: ${index}\n`).join('');
  const chunks = chunkCode(`services:\n${yaml.replace(/^/gm, '  ').trimEnd()}\n`, 'yaml', 120);
  for (const { text, titlePath } of chunks) {
    assert.equal(titlePath[0], 'services');
    assert.match(text, /port: \d$/);
  }
  const json = JSON.stringify({ a: { deep: 'x'.repeat(60) }, b: { deep: 'y'.repeat(60) } }, null, 2);
  assert.deepEqual(
    chunkCode(json, 'json', 110).map(({ titlePath }) => titlePath.join()),
    ['a', 'b'],
  );
});

test('puts every non-space character into exactly one chunk', () => {
  const line = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.constantFrom(
      'class A {',
      '  b() {',
      '    c;',
      '  }',
      '}',
      '',
      '# d',
      '/* e',
      ' */',
      '\tf',
      'else:',
      '@g',
      '漢字👩',
    ),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), fc.integer({ min: 16, max: 120 }), (lines, unitsMax) => {
      const text = lines.join('\n');
      const chunks = chunkCode(text, 'c', unitsMax);
      assertCovers(text, chunks);
      for (const chunk of chunks) {
        assert.equal(chunk.text, text.slice(chunk.start, chunk.end));
        assert.ok(chunk.text.length <= unitsMax);
      }
    }),
    { numRuns: size({ quick: 150, full: 500 }) },
  );
});

test('splits deep nesting, long lines and endless comments too', () => {
  const deep = Array.from({ length: 3000 }, (_, index) => `${' '.repeat(Math.min(index, 500))}if (x) {`).join('\n');
  assertCovers(deep, chunkCode(deep, 'c'));
  const long = `var a = ${'1+'.repeat(500_000)}1;`;
  assertCovers(long, chunkCode(long, 'javascript'));
  const comment = `/*\n${'x\n'.repeat(100_000)}`;
  assertCovers(comment, chunkCode(comment, 'c'));
});

function assertCovers(text: string, chunks: readonly Chunk[]): void {
  let at = 0;
  for (const { start, end } of chunks) {
    assert.ok(start >= at && end > start);
    assert.equal(text.slice(at, start).trim(), '');
    at = end;
  }
  assert.equal(text.slice(at).trim(), '');
}

test('chunks many megabytes in parts and loses nothing between them', () => {
  const lines = Array.from({ length: 150_000 }, (_, index) => `  "key${index}": "value ${index}",`);
  const text = `{\n${lines.join('\n')}\n}`;
  const chunks = chunkCode(text, 'json');
  const bare = (source: string): string => source.replaceAll(/\s/g, '');
  assert.equal(bare(chunks.map((chunk) => chunk.text).join('')), bare(text));
  for (const { text: own, start, end } of chunks) assert.equal(own, text.slice(start, end));
});
