import type { WindowVector } from '../storage/contracts/vectors.ts';
import type { Span } from './chunking/chunk.ts';
import { looksLikeCode, wordsOfCode } from './chunking/code-shape.ts';
import { sentencesOf } from './chunking/sentences.ts';
import { type EmbeddingProvider, type EmbedOptions, normalised } from './embeddings/embedding-provider.ts';

export interface PassageToEmbed {
  text: string;
  /**
   * Title and headings above the passage, outermost first. They are embedded with every part of it. Undefined for what is no
   * part of a document: a message.
   */
  titlePath?: readonly string[];
  /** The previous passage in the same thread: what a short answer refers to. Not for passages of a document. */
  before?: string;
}

/**
 * A single vector for a long passage hides what one sentence says, so long prose has a vector for each window. A chat turn
 * is better embedded whole: what would be fewer than three windows is one.
 */
const windowUnits = 200;
const windowsMin = 3;

/**
 * If a passage of a thread and the previous one are both up to this long, it is also embedded behind that one. Behind a
 * long answer everything means what the answer means.
 */
const threadUnitsMax = 400;
/** The weight of the vector that was made behind the previous passage. */
const behindShare = 0.3;

/**
 * The model puts short texts too near to everything, "Wow, great!" for example. So the vector of a part that has under 200
 * characters, headings included, is scaled down: by 2 % at 74 characters, by 4 % at 27.
 */
const brevityUnits = 200;
const brevityLoss = 0.02;

/**
 * The nearest of many windows is near to any question: of answers with 20 windows, one hides the short messages around it.
 * So the windows of a message are scaled down by how many there are: by 3 % for 3, by 10 % for 30 and more. Parts of
 * documents are about equally long and compete with one another: theirs stay as they are.
 */
const crowdWindowsMax = 30;
const crowdLoss = 0.03;

/** The weight of a window in its vector; the rest is the mean of the passage, which tells what it is about. */
const windowShare = 0.6;

/**
 * Embeds passages so that a question finds the part that answers it. Gains on the dev splits (nDCG@10 of the hybrid):
 *
 * - Long prose has a vector for each window, mixed with their mean (SciFact +.008, chunks +.04).
 * - Code is embedded whole, because its parts mean little alone (CoSQA -.07 if split), and as words, because to the model
 *   a bracket is worth as much as a word (+.003 to +.015), with the name of its language (+.02).
 * - A short passage of a thread is embedded alone and after a short one before it, and the weighted mean is stored (LoCoMo
 *   +.012). That mean is not normalised: its dot product with a query is the mean of both cosines, which ranks better than
 *   the cosine of the mean (+.012).
 * - Short parts have shorter vectors (LoCoMo +.012, its meaning alone +.035; chunks, meaning alone +.014), and so have
 *   those of messages with many windows (chats with answers of 4,000 characters: meaning alone .32 to .84, hybrid +.1).
 *
 * So ranking is by dot product, not by cosine: an index must not normalise the vectors.
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
  return plans.map(({ windows, texts, code, isMessage }) => {
    const own = vectors.slice(taken, taken + texts.length);
    taken += texts.length;
    const [first = new Float32Array(), behind] = own;
    if (windows.length === 1) {
      const vector = behind ? sumOf(first, 1 - behindShare, behind, behindShare) : first;
      return windows.map((window) => ({ ...window, vector: code ? vector : scaled(vector, brevity(texts[0])) }));
    }
    const mean = meanOf(own);
    return windows.map((window, index) => {
      const vector = normalised(sumOf(own[index] ?? mean, windowShare, mean, 1 - windowShare));
      return { ...window, vector: scaled(vector, brevity(texts[index]) * (isMessage ? crowding(windows.length) : 1)) };
    });
  });
}

interface Plan {
  windows: Span[];
  texts: string[];
  code: boolean;
  isMessage: boolean;
}

/** The windows of a passage, and the texts to embed: one for each window, or two for a short passage of a thread. */
function planOf({ text, titlePath, before }: PassageToEmbed, units: number): Plan {
  const isMessage = titlePath === undefined;
  const heading = titlePath && titlePath.length > 0 ? `${titlePath.join(' / ')}\n` : '';
  const windows = windowsOf(text, units);
  if (looksLikeCode(text)) return { windows, texts: [heading + wordsOfCode(text)], code: true, isMessage };
  const texts = windows.map(({ start, end }) => heading + text.slice(start, end));
  if (before && before.length <= threadUnitsMax && windows.length === 1 && text.length <= threadUnitsMax) {
    texts.push(`${heading}${before}\n${text}`);
  }
  return { windows, texts, code: false, isMessage };
}

/** Parts of about equal length, split between sentences. */
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
  return first.map((_, column) => vectors.reduce((sum, vector) => sum + (vector[column] ?? 0), 0) / vectors.length);
}

function sumOf(left: Float32Array, leftShare: number, right: Float32Array, rightShare: number): Float32Array {
  return left.map((component, column) => leftShare * component + rightShare * (right[column] ?? 0));
}

function brevity(text = ''): number {
  return 1 - brevityLoss * Math.max(0, Math.log(brevityUnits / Math.max(1, text.length)));
}

function crowding(windows: number): number {
  return 1 - crowdLoss * Math.log(Math.min(windows, crowdWindowsMax));
}

/** How near a message is to a question, by its nearest window: how many others it has matters to the order only. */
export function uncrowded(cosine: number, text: string, window: Span): number {
  const windows = Math.round(text.length / Math.max(1, window.end - window.start));
  return Math.min(1, cosine / crowding(Math.max(1, windows)));
}

/** With so many characters a message counts as if it had all of them. */
export const crowdChars = crowdWindowsMax * windowUnits;

function scaled(vector: Float32Array, scale: number): Float32Array {
  return scale === 1 ? vector : vector.map((component) => component * scale);
}
