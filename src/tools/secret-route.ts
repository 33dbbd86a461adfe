/**
 * HTTP paths that a toolset serves itself. They need no token, because each contains a one-time secret that was
 * issued to one caller. The toolset enforces single use and expiry.
 */
export interface SecretRoute {
  /** Such as `/kb/uploads/`. */
  pathPrefix: string;
  /** The accepted HTTP method. */
  method: string;
  /** Throws a `CarrelError` with a message for the client. */
  handle(request: SecretRequest): Promise<object>;
}

export interface SecretRequest {
  /** The path after the prefix, without the query. */
  rest: string;
  /** As declared by the client. */
  contentLength: number | undefined;
  /** Throws if the upload aborts or stalls. May be left unread. */
  body: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
}
