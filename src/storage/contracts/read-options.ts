/** For calls that read. */
export interface ReadOptions {
  /** Aborts the call, and with it the thread or connection that runs it. */
  readonly signal?: AbortSignal | undefined;
}
