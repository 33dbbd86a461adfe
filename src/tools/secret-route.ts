/**
 * Addresses below one path of the HTTP server that a toolset answers itself. They need no token, because each contains a
 * secret that was given to one caller; the toolset makes sure that it works only once, and only for a while.
 */
export interface SecretRoute {
  /** Such as `/kb/uploads/`. */
  pathPrefix: string;
  /** The only HTTP method that it accepts. */
  method: string;
  /** Throws a `CarrelError` to tell the client what is wrong. */
  handle(request: SecretRequest): Promise<object>;
}

export interface SecretRequest {
  /** What follows the prefix, up to the query. */
  rest: string;
  /** As the client announced it. */
  contentLength: number | undefined;
  /** Throws when it breaks off or stalls. Need not be read. */
  body: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
}
