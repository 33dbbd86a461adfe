/**
 * Addresses below one path of the HTTP server that a toolset answers itself. They need no token, because each holds a
 * secret that was given to one caller; that it can be used once and for a while is the toolset's to see to.
 */
export interface SecretRoute {
  /** Such as `/kb/uploads/`. */
  pathPrefix: string;
  /** The one that it takes. */
  method: string;
  /** Throws a `CarrelError` for what the client is to be told. */
  handle(request: SecretRequest): Promise<object>;
}

export interface SecretRequest {
  /** What follows the prefix, up to the query. */
  rest: string;
  /** As the client announced it. */
  contentLength: number | undefined;
  /** Throws when it breaks off or stands still. Need not be read. */
  body: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
}
