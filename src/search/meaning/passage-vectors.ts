import type { WindowVector } from '../../storage/vectors/vector.ts';
import type { Span } from '../chunking/chunk.ts';
import { looksLikeCode, wordsOfCode } from '../chunking/code-shape.ts';
import { sentencesOf } from '../chunking/sentences.ts';
import { type EmbeddingProvider, type EmbedOptions, normalised } from '../models/embedding-provider.ts';

export interface PassageToEmbed {
  text: string;
  /** Title and headings above the passage, outermost first. They are embedded with each window. Undefined for a message. */
  titlePath?: readonly string[];
  /** The previous message of the thread, which a short answer refers to. Not for documents. */
  before?: string;
}

/**
 * Preferred characters per window. Long prose has a vector per window, so that single sentences are found. A text shorter
 * than `windowsMin` windows is embedded whole.
 */
const windowUnits = 200;
const windowsMin = 3;

/** Max length of a message and of the previous one, for embedding both together. */
const messageUnitsMax = 400;
/** Weight of the vector that includes the previous message. */
const contextShare = 0.3;

/**
 * The vectors of a message with many windows are scaled down, because one of many windows is near to any question. The scale
 * falls with the logarithm of their number, up to `scaledWindowsMax`.
 */
const scaledWindowsMax = 30;
const scaleLoss = 0.03;

/** Weight of a window in its vector. The remaining weight is the passage's mean vector, which represents its topic. */
const windowShare = 0.6;

/**
 * Embeds passages so that a question finds the part that answers it:
 * - Long prose has a vector per window, mixed with the mean of all its windows.
 * - Code is embedded whole, as words, with the name of its language.
 * - A short message is embedded alone and together with the previous one; the weighted mean is not normalised.
 * - Messages with many windows have vectors shorter than 1.
 * Ranking uses the dot product, so an index must not normalise the vectors.
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
  let next = 0;
  return plans.map(({ windows, texts, isMessage }) => {
    const passageVectors = vectors.slice(next, next + texts.length);
    next += texts.length;
    const [first = new Float32Array(), inContext] = passageVectors;
    if (windows.length === 1) {
      const vector = inContext ? sumOf(first, 1 - contextShare, inContext, contextShare) : first;
      return windows.map((window) => ({ ...window, vector }));
    }
    const mean = meanOf(passageVectors);
    return windows.map((window, index) => {
      const vector = normalised(sumOf(passageVectors[index] ?? mean, windowShare, mean, 1 - windowShare));
      return { ...window, vector: scaled(vector, isMessage ? messageScale(windows.length) : 1) };
    });
  });
}

interface Plan {
  windows: Span[];
  texts: string[];
  isMessage: boolean;
}

/** Returns the windows of a passage and the texts to embed: one per window, or two for a short message. */
function planOf({ text, titlePath, before }: PassageToEmbed, units: number): Plan {
  const isMessage = titlePath === undefined;
  const heading = titlePath && titlePath.length > 0 ? `${titlePath.join(' / ')}\n` : '';
  const windows = windowsOf(text, units);
  if (looksLikeCode(text)) return { windows, texts: [heading + wordsOfCode(text)], isMessage };
  const texts = windows.map(({ start, end }) => heading + text.slice(start, end));
  if (before && before.length <= messageUnitsMax && windows.length === 1 && text.length <= messageUnitsMax) {
    texts.push(`${heading}${before}\n${text}`);
  }
  return { windows, texts, isMessage };
}

/** Splits a text between sentences into parts of about equal length. */
function windowsOf(text: string, units: number): Span[] {
  const whole: Span = { start: 0, end: text.length };
  if (text.length < windowsMin * units || looksLikeCode(text)) return [whole];
  const count = Math.round(text.length / units);
  const target = text.length / count;
  const windows: Span[] = [];
  for (const { start, end } of sentencesOf(text, whole)) {
    const last = windows.at(-1);
    const lengthToMidpoint = last ? (start + end) / 2 - last.start : 0;
    if (last && (lengthToMidpoint <= target || windows.length === count)) last.end = end;
    else windows.push({ start, end });
  }
  return windows.length > 0 ? windows : [whole];
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array()] = vectors;
  return first.map((_, column) => vectors.reduce((sum, vector) => sum + (vector[column] ?? 0), 0) / vectors.length);
}

function sumOf(left: Float32Array, leftShare: number, right: Float32Array, rightShare: number): Float32Array {
  return left.map((component, column) => leftShare * component + rightShare * (right[column] ?? 0));
}

function messageScale(windows: number): number {
  return 1 - scaleLoss * Math.log(Math.min(windows, scaledWindowsMax));
}

/** Returns the cosine of a message's nearest window before scaling. */
export function unscaledCosine(cosine: number, text: string, window: Span): number {
  const windows = Math.round(text.length / Math.max(1, window.end - window.start));
  return Math.min(1, cosine / messageScale(Math.max(1, windows)));
}

/** Length above which the scale of a message stays the same. */
export const scaledCharsMax = scaledWindowsMax * windowUnits;

function scaled(vector: Float32Array, scale: number): Float32Array {
  return scale === 1 ? vector : vector.map((component) => component * scale);
}
