export interface SummaryProvider {
  readonly name: 'extractive' | 'ollama' | 'openai';
  /** Undefined if the provider uses no model. */
  readonly model: string | undefined;
  /** True if summaries are local and fast, so that a read may wait for them. */
  readonly isLocal: boolean;
  readonly concurrencyMax: number;
  /** Summarises a text. Returns undefined if there is nothing to summarise. Throws `UnusableText` if a retry would fail too. */
  summarise(text: string, request: { source: 'user' | 'agent'; signal: AbortSignal }): Promise<string | undefined>;
}

/** Thrown if the provider works, but not for this text: it is refused or too long, or the answer is empty. */
export class UnusableText extends Error {
  override readonly name = 'UnusableText';
}
