export interface SummaryProvider {
  readonly name: 'extractive' | 'ollama' | 'openai';
  /** Undefined where there is none. */
  readonly model: string | undefined;
  /** Made here and at once, so that a read may wait for it. */
  readonly isLocal: boolean;
  readonly concurrencyMax: number;
  /**
   * Undefined when the text has nothing to summarise. Throws `UnusableText` for what this provider can make no summary of,
   * now or later; everything else that it throws is worth another try.
   */
  summarise(text: string, request: { source: 'user' | 'agent'; signal: AbortSignal }): Promise<string | undefined>;
}

/** The provider works, but not with this text: it was refused, is too long, or the answer is none. */
export class UnusableText extends Error {
  override readonly name = 'UnusableText';
}
