import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPages } from '../../../bench/extraction/pages.ts';
import { readHtml } from '../../../src/documents/html/read-html.ts';
import { size } from '../../support/sizes.ts';
import { randomNumbers } from '../../support/test-vectors.ts';

const rounds = size({ quick: 8, full: 40 });
const pieces = [
  '<',
  '>',
  '</',
  '<table>',
  '</div>',
  '<template>',
  '<svg>',
  '&#x0;',
  '<!--',
  '"',
  '<p',
  '\0',
  '<select>',
  '<![CDATA[',
  '<frameset>',
  '</body>',
  '<math>',
];

test('mutated pages are read without an error and without script text (T086)', async () => {
  const random = randomNumbers(7);
  const pick = <T>(list: T[]): T | undefined => list[Math.floor(random() * list.length)];
  for (const { name, html } of await loadPages()) {
    for (let round = 0; round < rounds; round += 1) {
      let mutated = html;
      for (let change = 0; change < 8; change += 1) {
        const at = Math.floor(random() * mutated.length);
        const cut = Math.floor(random() * 40);
        mutated = mutated.slice(0, at) + (pick(pieces) ?? '') + mutated.slice(at + cut);
      }
      const mode = round % 2 === 0 ? 'text' : 'markdown';
      const { text } = readHtml(mutated, { mode, url: 'https://h.example/', charsMax: 1_000_000 });
      assert.ok(!text.includes('\0'), name);
      assert.ok(text.length <= mutated.length * 8, name);
    }
  }
});
