import type { WindowVector } from '../storage/vectors.ts';
import { looksLikeCode, wordsOfCode } from './code-shape.ts';
import { type EmbeddingProvider, type EmbedOptions, normalised } from './embeddings/embedding-provider.ts';
import { type Span, sentencesOf } from './sentences.ts';

export interface PassageToEmbed {
  text: string;
  /** Title and headings above the passage, outermost first. They are read with every part of it. */
  titlePath?: readonly string[];
  /** The passage before it in the same thread: what a short answer refers to. Not for passages of one document. */
  before?: string;
}

/** A mean vector of a long passage hides what one sentence says; so long prose has a vector for each of its parts. */
const windowUnits = 400;

/** How much of a vector is the part itself; the rest is the mean over the passage, which says what it is about. */
const windowShare = 0.6;

/**
 * Embeds passages so that a question finds the part that answers it. Gains on the dev splits (nDCG@10 of the hybrid):
 *
 * - Prose of more than one window has a vector for each window, mixed with the mean of them (SciFact +.008, chunks +.026).
 * - Code is embedded whole, because its parts mean little alone (CoSQA -.07 when cut), and by its words, because the
 *   model takes a bracket for as much as a word (+.003 to +.015).
 * - A short passage of a thread is embedded alone and after the one before it, and the mean is stored (LoCoMo +.017).
 *   That mean is not scaled to unit length: its dot product with a query then is the mean of both cosines, which
 *   ranks better than the cosine of the mean (+.012).
 */
export async function embedPassages(
  passages: readonly PassageToEmbed[],
  provider: EmbeddingProvider,
  options: EmbedOptions = {},
): Promise<WindowVector[][]> {
  const plans = passages.map(planOf);
  const vectors = await provider.embed(
    plans.flatMap(({ texts }) => texts),
    options,
  );
  let taken = 0;
  return plans.map(({ windows, texts }) => {
    const own = vectors.slice(taken, taken + texts.length);
    taken += texts.length;
    if (windows.length === 1) return windows.map((window) => ({ ...window, vector: meanOf(own) }));
    const mean = meanOf(own);
    return windows.map((window, index) => ({ ...window, vector: mixed(own[index] ?? mean, mean) }));
  });
}

/** The windows of a passage, and the texts to embed: one for each window, or two for a short passage of a thread. */
function planOf({ text, titlePath = [], before }: PassageToEmbed): { windows: Span[]; texts: string[] } {
  const heading = titlePath.length > 0 ? `${titlePath.join(' / ')}\n` : '';
  const windows = windowsOf(text);
  if (looksLikeCode(text)) return { windows, texts: [heading + wordsOfCode(text)] };
  const texts = windows.map(({ start, end }) => heading + text.slice(start, end));
  if (before && windows.length === 1 && text.length <= windowUnits) {
    texts.push(`${heading}${before.slice(-windowUnits)}\n${text}`);
  }
  return { windows, texts };
}

/** Parts of about equal length, cut between sentences. */
export function windowsOf(text: string): Span[] {
  const whole: Span = { start: 0, end: text.length };
  const count = Math.round(text.length / windowUnits);
  if (count <= 1 || looksLikeCode(text)) return [whole];
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
