/** For calls that read. */
export interface ReadOptions {
  /** Gives the call up, and with it the thread or connection that performs it. */
  readonly signal?: AbortSignal | undefined;
}
