import { once } from 'node:events';
import type { Client, Connection, Submittable } from 'pg';

/**
 * COPY, which `pg` has the messages for and no methods. One statement is under way at a time on a connection; rows are
 * held back at the socket while nobody takes them.
 */
export async function* copyOut(client: Client, sql: string): AsyncGenerator<Buffer> {
  const lines = createLineQueue();
  const done = submit(client, sql, {
    handleCopyData: ({ chunk }, connection) => lines.put(chunk, connection),
  }).then(lines.end, lines.fail);
  try {
    yield* lines.taken();
  } finally {
    lines.discard();
    await done;
  }
}

export interface CopyIn {
  write(chunk: Uint8Array): Promise<void>;
  /** The number of rows that were added. */
  end(): Promise<number>;
}

export async function copyIn(client: Client, sql: string): Promise<CopyIn> {
  const ready = Promise.withResolvers<CopyConnection>();
  const finished = submit(client, sql, { handleCopyInResponse: ready.resolve });
  let failure: unknown;
  finished.catch((error) => {
    failure = error;
    ready.reject(error);
  });
  const connection = await ready.promise;
  return {
    async write(chunk) {
      if (failure !== undefined) throw failure;
      connection.sendCopyFromChunk(chunk);
      // A connection that is lost while we wait rejects `finished` and drains never.
      if (connection.stream.writableNeedDrain) await Promise.race([once(connection.stream, 'drain'), finished]);
    },
    end() {
      connection.endCopyFrom();
      return finished;
    },
  };
}

interface CopyConnection extends Connection {
  sendCopyFromChunk(chunk: Uint8Array): void;
  endCopyFrom(): void;
}

interface CopyHandlers {
  handleCopyInResponse?(connection: CopyConnection): void;
  handleCopyData?(message: { chunk: Buffer }, connection: CopyConnection): void;
}

/** The number of rows that the statement reports. */
function submit(client: Client, sql: string, handlers: CopyHandlers): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let rows = 0;
  const statement: Submittable & CopyHandlers & Record<string, unknown> = {
    ...handlers,
    submit: (connection) => connection.query(sql),
    handleCommandComplete: ({ text }: { text: string }) => {
      rows = Number(/^COPY (\d+)$/.exec(text)?.[1] ?? 0);
    },
    handleReadyForQuery: () => resolve(rows),
    handleError: reject,
    handleRowDescription: () => {},
    handleDataRow: () => {},
    handleEmptyQuery: () => {},
    handlePortalSuspended: () => {},
  };
  client.query(statement);
  return promise;
}

const queuedBytesMax = 1024 * 1024;

function createLineQueue() {
  let queued: Buffer[] = [];
  let bytes = 0;
  let paused: CopyConnection | undefined;
  let state: 'open' | 'ended' | 'discarding' = 'open';
  let failure: unknown;
  let wake: (() => void) | undefined;
  const signal = () => {
    wake?.();
    wake = undefined;
  };
  const takeAll = (): Buffer => {
    const all = Buffer.concat(queued, bytes);
    queued = [];
    bytes = 0;
    paused?.stream.resume();
    paused = undefined;
    return all;
  };
  return {
    put(chunk: Buffer, connection: CopyConnection): void {
      if (state === 'discarding') return;
      // The driver uses its buffer again.
      queued.push(Buffer.from(chunk));
      bytes += chunk.length;
      if (bytes > queuedBytesMax) {
        connection.stream.pause();
        paused = connection;
      }
      signal();
    },
    end(): void {
      state = 'ended';
      signal();
    },
    fail(error: unknown): void {
      failure = error;
      state = 'ended';
      signal();
    },
    discard(): void {
      if (state === 'open') state = 'discarding';
      takeAll();
    },
    async *taken(): AsyncGenerator<Buffer> {
      for (;;) {
        if (bytes > 0) yield takeAll();
        else if (state === 'ended') break;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      if (failure !== undefined) throw failure;
    },
  };
}
