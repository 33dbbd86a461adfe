import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmbeddingProvider } from '../models/embedding-provider.ts';
import { embedPassages } from './passage-vectors.ts';

/** Records its input and gives each text its own unit vector. */
function recorder(): EmbeddingProvider & { embedded: string[] } {
  const embedded: string[] = [];
  return {
    name: 'recorder',
    dimensions: 16,
    embedded,
    embed: async (texts) =>
      texts.map((text) => {
        const vector = new Float32Array(16);
        vector[embedded.push(text) - 1] = 1;
        return vector;
      }),
    close: async () => {},
  };
}

const sentence = 'This is one sentence that says something about a fox. ';
const code = 'def fooBar(self, item_list):\n    """Counts."""\n    return len(item_list)\n';

test('a long passage has a vector per part, split between sentences', async () => {
  const provider = recorder();
  const text = sentence.repeat(12).trim();
  const [vectors = []] = await embedPassages([{ text, titlePath: ['Animals', 'Foxes'] }], provider);
  assert.equal(vectors.length, 3);
  assert.equal(vectors[0]?.start, 0);
  assert.equal(vectors.at(-1)?.end, text.length);
  for (const { start, end, vector } of vectors) {
    assert.match(text.slice(start, end), /^This .*fox\.$/s);
    assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-6);
  }
  assert.ok(provider.embedded.every((text) => text.startsWith('Animals / Foxes\nThis')));
  // Mostly the part itself, plus some of the others.
  const [own = 0, other = 0] = vectors[0]?.vector ?? [];
  assert.ok(own > 3 * other && other > 0);
});

test('embeds a short message alone and after the previous one; the mean is not normalised', async () => {
  const provider = recorder();
  const [[only] = []] = await embedPassages([{ text: 'Yes, last May.', before: 'Ann: Did you go to Rome?' }], provider);
  assert.deepEqual(provider.embedded, ['Yes, last May.', 'Ann: Did you go to Rome?\nYes, last May.']);
  assert.deepEqual([only?.start, only?.end], [0, 14]);
  const [alone = 0, after = 0, other] = only?.vector ?? [];
  assert.ok(Math.abs(after / (alone + after) - 0.3) < 1e-6);
  assert.equal(other, 0);
  assert.ok(Math.hypot(alone, after) < 0.78);
});

test('embeds a message alone if it or the previous one is long', async () => {
  const provider = recorder();
  const question = 'And what about the other one?';
  await embedPassages([{ text: question, before: sentence.repeat(8) }], provider);
  await embedPassages([{ text: sentence.repeat(8), before: question }], provider);
  assert.deepEqual(provider.embedded, [question, sentence.repeat(8)]);
});

test('scales down the vectors of a message by its windows, up to thirty, but not those of documents', async () => {
  const length = async (windows: number, titlePath?: string[]) => {
    const texts = { ...recorder(), dimensions: 1, embed: async (all: readonly string[]) => all.map(() => unit) };
    const unit = new Float32Array([1]);
    const part = `${'This is '.repeat(24)}so now. `;
    const [vectors = []] = await embedPassages(
      [{ text: part.repeat(windows), ...(titlePath && { titlePath }) }],
      texts,
    );
    assert.equal(vectors.length, windows);
    return vectors[0]?.vector[0] ?? 0;
  };
  const [three = 0, twelve = 0, thirty = 0, more] = await Promise.all([3, 12, 30, 60].map((count) => length(count)));
  assert.ok(Math.abs(three - 0.967) < 0.001);
  assert.ok(Math.abs(twelve - 0.925) < 0.001);
  assert.ok(Math.abs(thirty - 0.898) < 0.001);
  assert.equal(more, thirty);
  assert.ok((await length(30, [])) > 0.999);
});

test('embeds code whole and as words', async () => {
  const provider = recorder();
  const [vectors = []] = await embedPassages([{ text: code.repeat(12) }], provider);
  assert.equal(vectors.length, 1);
  assert.ok(provider.embedded[0]?.startsWith('python def foo Bar , item list Counts. return len item list'));
});

test('passages keep their order and number of vectors', async () => {
  const all = await embedPassages([{ text: 'one' }, { text: sentence.repeat(12) }, { text: '' }], recorder());
  assert.deepEqual(
    all.map((vectors) => vectors.length),
    [1, 3, 1],
  );
  assert.ok((all[2]?.[0]?.vector[4] ?? 0) > 0);
});

test('text without sentence ends is one window', async () => {
  const all = await embedPassages([{ text: 'word '.repeat(400) }, { text: ' '.repeat(2000) }], recorder());
  assert.deepEqual(
    all.map((windows) => windows.map(({ start, end }) => [start, end])),
    [[[0, 1999]], [[0, 2000]]],
  );
});

test('windows have the length that the provider prefers, or the text stays whole', async () => {
  const text = sentence.repeat(24).trim();
  const counts = [100, 400, Number.POSITIVE_INFINITY].map(async (windowUnits) => {
    const [vectors = []] = await embedPassages([{ text }], { ...recorder(), windowUnits });
    return vectors.length;
  });
  assert.deepEqual(await Promise.all(counts), [12, 3, 1]);
});
