import type { WindowVector } from '../storage/contracts/vectors.ts';
import type { Span } from './chunking/chunk.ts';
import { looksLikeCode, wordsOfCode } from './chunking/code-shape.ts';
import { sentencesOf } from './chunking/sentences.ts';
import { type EmbeddingProvider, type EmbedOptions, normalised } from './embeddings/embedding-provider.ts';

export interface PassageToEmbed {
  text: string;
  /** Title and headings above the passage, outermost first. They are read with every part of it. */
  titlePath?: readonly string[];
  /** The passage before it in the same thread: what a short answer refers to. Not for passages of one document. */
  before?: string;
}

/**
 * One vector of a long passage hides what one sentence says, so long prose has a vector for each of its parts. A turn of a
 * chat means more whole: what would be fewer than three windows is one.
 */
const windowUnits = 200;
const windowsMin = 3;

/** How much of the passage before, and up to which length, a passage of a thread is read with. */
const threadUnitsMax = 400;

/**
 * The model takes short texts for nearer than they are: "Wow, great!" comes close to everything. So the vector of a part
 * that has, with its headings, under 200 characters is a little shorter than 1: by 2 % where there are 74, by 4 % where there are 27.
 */
const brevityUnits = 200;
const brevityLoss = 0.02;

/** How much of a vector is the part itself; the rest is the mean over the passage, which says what it is about. */
const windowShare = 0.6;

/**
 * Embeds passages so that a question finds the part that answers it. Gains on the dev splits (nDCG@10 of the hybrid):
 *
 * - Long prose has a vector for each window, mixed with the mean of them (SciFact +.008, chunks +.04).
 * - Code is embedded whole, because its parts mean little alone (CoSQA -.07 when cut), and by its words, because the
 *   model takes a bracket for as much as a word (+.003 to +.015), with the name of its language (+.02).
 * - A short passage of a thread is embedded alone and after the one before it, and the mean is stored (LoCoMo +.017).
 *   That mean is not scaled to unit length: its dot product with a query then is the mean of both cosines, which
 *   ranks better than the cosine of the mean (+.012).
 * - Short parts have shorter vectors (LoCoMo +.012, its meaning alone +.035; chunks, meaning alone +.014).
 *
 * So dot products rank, not cosines: an index must not scale the vectors.
 */
export async function embedPassages(
  passages: readonly PassageToEmbed[],
  provider: EmbeddingProvider,
  options: EmbedOptions = {},
): Promise<WindowVector[][]> {
  const plans = passages.map((passage) => planOf(passage, provider.windowUnits ?? windowUnits));
  const vectors = await provider.embed(
    plans.flatMap(({ texts }) => texts),
    options,
  );
  let taken = 0;
  return plans.map(({ windows, texts, code }) => {
    const own = vectors.slice(taken, taken + texts.length);
    taken += texts.length;
    const mean = meanOf(own);
    return windows.map((window, index) => {
      const vector = windows.length === 1 ? mean : mixed(own[index] ?? mean, mean);
      return { ...window, vector: code ? vector : shortened(vector, texts[index]?.length ?? 0) };
    });
  });
}

interface Plan {
  windows: Span[];
  texts: string[];
  code: boolean;
}

/** The windows of a passage, and the texts to embed: one for each window, or two for a short passage of a thread. */
function planOf({ text, titlePath = [], before }: PassageToEmbed, units: number): Plan {
  const heading = titlePath.length > 0 ? `${titlePath.join(' / ')}\n` : '';
  const windows = windowsOf(text, units);
  if (looksLikeCode(text)) return { windows, texts: [heading + wordsOfCode(text)], code: true };
  const texts = windows.map(({ start, end }) => heading + text.slice(start, end));
  if (before && windows.length === 1 && text.length <= threadUnitsMax) {
    texts.push(`${heading}${before.slice(-threadUnitsMax)}\n${text}`);
  }
  return { windows, texts, code: false };
}

/** Parts of about equal length, cut between sentences. */
function windowsOf(text: string, units: number): Span[] {
  const whole: Span = { start: 0, end: text.length };
  if (text.length < windowsMin * units || looksLikeCode(text)) return [whole];
  const count = Math.round(text.length / units);
  const target = text.length / count;
  const windows: Span[] = [];
  for (const { start, end } of sentencesOf(text, whole)) {
    const last = windows.at(-1);
    const lengthWithHalf = last ? (start + end) / 2 - last.start : 0;
    if (last && (lengthWithHalf <= target || windows.length === count)) last.end = end;
    else windows.push({ start, end });
  }
  return windows.length > 0 ? windows : [whole];
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array()] = vectors;
  if (vectors.length === 1) return first;
  return first.map((_, column) => vectors.reduce((sum, vector) => sum + (vector[column] ?? 0), 0) / vectors.length);
}

function mixed(part: Float32Array, mean: Float32Array): Float32Array {
  return normalised(part.map((component, column) => windowShare * component + (1 - windowShare) * (mean[column] ?? 0)));
}

function shortened(vector: Float32Array, units: number): Float32Array {
  const scale = 1 - brevityLoss * Math.max(0, Math.log(brevityUnits / Math.max(1, units)));
  return scale === 1 ? vector : vector.map((component) => component * scale);
}
