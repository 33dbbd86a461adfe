import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmbeddingProvider } from './embeddings/embedding-provider.ts';
import { embedPassages, windowsOf } from './passage-vectors.ts';

/** Remembers what it was asked and gives each text a unit vector of its own. */
function recorder(): EmbeddingProvider & { asked: string[] } {
  const asked: string[] = [];
  return {
    name: 'recorder',
    dimensions: 16,
    asked,
    embed: async (texts) =>
      texts.map((text) => {
        const vector = new Float32Array(16);
        vector[asked.push(text) - 1] = 1;
        return vector;
      }),
    close: async () => {},
  };
}

const sentence = 'This is one sentence that says something about a fox. ';
const code = 'def fooBar(self, item_list):\n    """Counts."""\n    return len(item_list)\n';

test('a long passage has a vector for each part, cut between sentences', async () => {
  const provider = recorder();
  const text = sentence.repeat(22).trim();
  const [vectors = []] = await embedPassages([{ text, titlePath: ['Animals', 'Foxes'] }], provider);
  assert.equal(vectors.length, 3);
  assert.equal(vectors[0]?.start, 0);
  assert.equal(vectors.at(-1)?.end, text.length);
  for (const { start, end, vector } of vectors) {
    assert.match(text.slice(start, end), /^This .*fox\.$/s);
    assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-6);
  }
  assert.ok(provider.asked.every((asked) => asked.startsWith('Animals / Foxes\nThis')));
  // Mostly the part itself, and something of the others.
  const [own = 0, other = 0] = vectors[0]?.vector ?? [];
  assert.ok(own > 3 * other && other > 0);
});

test('a short passage of a thread is embedded alone and after the one before; the mean is not scaled', async () => {
  const provider = recorder();
  const [[only] = []] = await embedPassages([{ text: 'Yes, last May.', before: 'Ann: Did you go to Rome?' }], provider);
  assert.deepEqual(provider.asked, ['Yes, last May.', 'Ann: Did you go to Rome?\nYes, last May.']);
  assert.deepEqual([only?.start, only?.end], [0, 14]);
  assert.deepEqual(only?.vector.slice(0, 3), new Float32Array([0.5, 0.5, 0]));
});

test('code is embedded whole and by its words', async () => {
  const provider = recorder();
  const [vectors = []] = await embedPassages([{ text: code.repeat(12) }], provider);
  assert.equal(vectors.length, 1);
  assert.ok(provider.asked[0]?.startsWith('def foo Bar , item list Counts. return len item list'));
});

test('passages keep their order and their number of vectors', async () => {
  const all = await embedPassages([{ text: 'one' }, { text: sentence.repeat(16) }, { text: '' }], recorder());
  assert.deepEqual(
    all.map((vectors) => vectors.length),
    [1, 2, 1],
  );
  assert.equal(all[2]?.[0]?.vector[3], 1);
});

test('text without sentence ends is one window', () => {
  assert.deepEqual(windowsOf('word '.repeat(400)), [{ start: 0, end: 1999 }]);
  assert.deepEqual(windowsOf(' '.repeat(2000)), [{ start: 0, end: 2000 }]);
});
