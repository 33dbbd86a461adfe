import type { Logger } from '../../base/log.ts';
import type { PutVectors, TextToEmbed } from '../../storage/contracts/vectors.ts';
import type { EmbeddingProvider } from '../embeddings/embedding-provider.ts';
import { embedPassages } from '../passage-vectors.ts';

export type EmbeddedText = PutVectors['texts'][number];

export interface TextEmbedder {
  readonly provider: EmbeddingProvider;
  readonly log: Logger;
  /** Called with whether the provider answers. */
  onAnswer(answers: boolean): void;
}

/** The vectors of texts. One that the provider refuses has none, and keeps no other from its own. */
export async function embedTexts(
  texts: readonly TextToEmbed[],
  embedder: TextEmbedder,
  signal: AbortSignal,
): Promise<EmbeddedText[]> {
  const { provider, log, onAnswer } = embedder;
  try {
    const windows = await embedPassages(texts, provider, { signal });
    onAnswer(true);
    return texts.map(({ owner, textHash }, place) => ({ owner, textHash, windows: windows[place] ?? [] }));
  } catch (error) {
    // Either nothing can be embedded now, and this throws too, or one of the texts is at fault.
    await provider.embed(['.'], { signal }).catch((away) => {
      onAnswer(signal.aborted);
      throw away;
    });
    const [only, ...others] = texts;
    if (only === undefined || others.length > 0) return inTurn(texts, embedder, signal);
    log.warn('a text cannot be embedded and will be found by words only', {
      owner: only.owner,
      reason: error instanceof Error ? error.message : '',
    });
    return [{ owner: only.owner, textHash: only.textHash, windows: [] }];
  }
}

async function inTurn(
  texts: readonly TextToEmbed[],
  embedder: TextEmbedder,
  signal: AbortSignal,
): Promise<EmbeddedText[]> {
  const embedded: EmbeddedText[] = [];
  for (const each of texts) embedded.push(...(await embedTexts([each], embedder, signal)));
  return embedded;
}
