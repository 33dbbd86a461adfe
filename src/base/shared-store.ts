/**
 * What processes that serve together keep in common for a while: calls that go on, uploads, counts. Each thing has an id
 * within its kind and consists of numbered parts. Whatever has expired is as good as gone. There is one only where the
 * database is a server: processes on one file share a folder.
 */
export interface SharedStore {
  /** False if the part is there already: of several who add one, the first succeeds. */
  add(part: PartName, content: Uint8Array, lastsMs: number): Promise<boolean>;
  /**
   * The same for content of any length, of which nobody sees anything before all is there. Returns its bytes; undefined if
   * the part is there already.
   */
  addStream(
    part: PartName,
    content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    lastsMs: number,
  ): Promise<number | undefined>;
  /** Adds the part or replaces it. */
  put(part: PartName, content: Uint8Array, lastsMs: number): Promise<void>;
  read(part: PartName): Promise<Buffer | undefined>;
  stream(part: PartName): AsyncIterable<Uint8Array>;
  /** One part of everything of a kind. */
  readAll(request: { readonly kind: string; readonly part: number }): Promise<Buffer[]>;
  /** Of everything of a kind, or of these ids, without the content. */
  list(request: { readonly kind: string; readonly ids?: readonly string[] }): Promise<ListedPart[]>;
  /** From now on it all lasts so long. */
  touch(thing: ThingName, lastsMs: number): Promise<void>;
  /** All of it, or these parts. */
  remove(thing: ThingName, parts?: readonly number[]): Promise<void>;
  /** Counts a call, unless there were `limit` within the last `windowMs`, in whatever process. */
  take(request: CountRequest): Promise<Taken>;
  /** The same for all processes, as long as the database lasts. */
  signingKey(): Promise<Buffer>;
  /** Tells all other processes. Not all can be reached at all times: whoever listens must look by itself, too. */
  tell(notice: Notice): void;
  onNotice(listener: (notice: Notice) => void): () => void;
}

export interface ThingName {
  readonly kind: string;
  readonly id: string;
}

export interface PartName extends ThingName {
  /** Any number from 0 on. */
  readonly part: number;
}

export interface ListedPart {
  readonly id: string;
  readonly part: number;
  readonly bytes: number;
}

export interface CountRequest {
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
}

export type Taken = { ok: true } | { ok: false; retryAfterMs: number };

/**
 * `written`: something that clients may watch. `work`: there is something to ingest or to embed. `task` and `job`: the one with
 * this id has changed. `session`: it has ended, or this came in for it, or is to go out, in another process.
 */
export type Notice =
  | { readonly about: 'written' | 'work' }
  | { readonly about: 'task'; readonly id: string }
  | { readonly about: 'job'; readonly id: string }
  | { readonly about: 'session'; readonly id: string; readonly what: 'ended' }
  | { readonly about: 'session'; readonly id: string; readonly what: 'in' | 'out'; readonly message: object };
