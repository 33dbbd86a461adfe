export interface SummaryProvider {
  readonly name: 'extractive' | 'ollama' | 'openai';
  /** Undefined if the provider uses no model. */
  readonly model: string | undefined;
  /** Local and fast, so that a read may wait for it. */
  readonly isLocal: boolean;
  readonly concurrencyMax: number;
  /** Undefined if there is nothing to summarise. Throws `UnusableText` if retrying is useless. */
  summarise(text: string, request: { source: 'user' | 'agent'; signal: AbortSignal }): Promise<string | undefined>;
}

/** The provider works, but not for this text: it was refused, is too long, or the answer was empty. */
export class UnusableText extends Error {
  override readonly name = 'UnusableText';
}
