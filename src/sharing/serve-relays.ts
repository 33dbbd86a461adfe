import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import type { Logger } from '../base/log.ts';
import type { LineOutput } from '../mcp/stdio/peer.ts';
import type { ClientLines } from '../mcp/stdio/stdio.ts';
import {
  createFrameReader,
  encodeFrame,
  type Frame,
  frameKinds,
  type Hello,
  type Refusal,
  type Welcome,
} from './frames.ts';

export interface RelayServing {
  /** A unique path to listen on. */
  socketPath: string;
  secret: string;
  welcome: Welcome;
  /** Returns the reason if this relay can't be served here. */
  refusal(hello: Hello): Refusal | undefined;
  /** Serves one client with its own log. */
  serveLines(client: string, log: Logger, output: LineOutput): ClientLines;
  /** Creates the log of one client. Messages for the user go to `print`. */
  createLog(client: string, print: (text: string) => void): Logger;
  /** Returns what this process printed for the user while it started. */
  outputAtStart(): string;
  log: Logger;
  /** How long to keep running without clients. Undefined: until `close` is called. */
  idleMs: number | undefined;
  /** Called before this process stops accepting clients. */
  leave(): void;
}

export interface RelayService {
  readonly clients: number;
  /** Sends a message for the user to every client's stderr. */
  print(text: string): void;
  /** Resolves when no clients are connected and none can connect. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Max time for a relay's hello. */
const helloMs = 5_000;
const helloBytesMax = 64 * 1024;
/** Max time for the relay that started this process to connect. */
const firstClientMs = 10_000;
/** Max unread bytes of answers. Above it, no further lines of the client are read. */
const unsentBytesMax = 16 * 1024 * 1024;
/** Max frame overhead. */
const frameSlack = 1024;

interface Connection {
  socket: Socket;
  finish(): Promise<void>;
  print(text: string): void;
}

/** Serves any number of relays. Each relay has one stdio client. */
export function serveRelays(serving: RelayServing): Promise<RelayService> {
  const { log, idleMs } = serving;
  const connections = new Set<Connection>();
  const ended = Promise.withResolvers<void>();
  let leaving = false;
  let idle: NodeJS.Timeout | undefined;

  /** Stops accepting clients. This process then ends when its last client disconnects. */
  const leaveIfUnused = (): void => {
    clearTimeout(idle);
    if (!leaving) {
      leaving = true;
      serving.leave();
      server.close();
    }
    if (connections.size === 0) ended.resolve();
  };

  const endsUnused = (): boolean => leaving || idleMs === 0;

  const forget = (connection: Connection): void => {
    if (!connections.delete(connection)) return;
    const isLast = connections.size === 0;
    // The last connection ends with the exit of this process, so that the relay does not exit before it.
    if (isLast && endsUnused()) leaveIfUnused();
    else connection.socket.end();
    if (isLast && !leaving && idleMs !== undefined) idle = setTimeout(leaveIfUnused, idleMs);
  };

  const accept = (socket: Socket): void => {
    let lines: ((frame: Frame) => void) | undefined;
    const timeout = setTimeout(() => socket.destroy(), helloMs);
    const read = createFrameReader(
      () => (lines ? serving.welcome.bytesMax + frameSlack : helloBytesMax),
      (frame) => {
        if (lines) {
          lines(frame);
          return;
        }
        clearTimeout(timeout);
        lines = greet(socket, frame);
      },
    );
    socket.on('data', (chunk) => {
      try {
        read(chunk);
      } catch (error) {
        log.warn('disconnected a relay that sent invalid data', { error });
        socket.destroy();
      }
    });
    socket.on('error', (error) => log.debug('relay', { error }));
    socket.on('close', () => clearTimeout(timeout));
  };

  const greet = (socket: Socket, frame: Frame): ((frame: Frame) => void) => {
    const nothing = (): void => {};
    const hello = frame.kind === frameKinds.hello ? readHello(frame.bytes) : undefined;
    if (hello === undefined || !isSame(hello.secret, serving.secret)) {
      log.warn("rejected a connection without this process's secret");
      socket.end(encodeFrame(frameKinds.refused, 0, 'unknown'));
      return nothing;
    }
    if (hello.wants === 'status') {
      socket.end(encodeFrame(frameKinds.welcome, 0, JSON.stringify({ clients: connections.size })));
      return nothing;
    }
    const refusal = leaving ? 'outdated' : serving.refusal(hello);
    if (refusal === undefined) return serve(socket, hello);
    log.info('client redirected', { reason: refusal });
    socket.end(encodeFrame(frameKinds.refused, 0, refusal));
    // Stops accepting clients. This also withdraws the announcement, so that a new owner can announce itself.
    if (refusal === 'outdated') leaveIfUnused();
    return nothing;
  };

  const serve = (socket: Socket, hello: Hello): ((frame: Frame) => void) => {
    clearTimeout(idle);
    /** Lines held until the session is restored, so that subscriptions exist before new calls change anything. */
    const held: Frame[] = [];
    let replaying = 0;
    const output = createFrameOutput(socket, () => {
      replaying -= 1;
      if (replaying === 0) for (const frame of held.splice(0)) take(frame);
    });
    const clientLog = serving.createLog(hello.client, output.print);
    const lines = serving.serveLines(hello.client, clientLog, output);
    let lastLine = 0;
    let closing = false;
    const connection: Connection = {
      socket,
      print: output.print,
      async finish() {
        closing = true;
        output.leave(lastLine);
        await lines.finish();
      },
    };
    connections.add(connection);
    log.info('client connected', { client: hello.client, clients: connections.size });
    socket.write(encodeFrame(frameKinds.welcome, 0, JSON.stringify(serving.welcome)));
    output.print(serving.outputAtStart());
    const gone = async (): Promise<void> => {
      if (closing) return;
      closing = true;
      await lines.finish();
      output.bye(connections.size === 1 && endsUnused());
      log.info('client disconnected', { client: hello.client });
      forget(connection);
    };
    socket.on('close', () => void gone().then(() => forget(connection)));
    socket.on('drain', () => socket.resume());
    const take = ({ kind, line, bytes }: Frame): void => {
      if (closing) return;
      if (kind === frameKinds.end) {
        void gone();
        return;
      }
      lastLine = line;
      if (kind === frameKinds.line) lines.receive(bytes, line);
      else if (kind === frameKinds.tooLong) lines.refuse(line);
    };
    return (frame) => {
      if (closing) return;
      if (socket.writableLength > unsentBytesMax) socket.pause();
      if (frame.kind === frameKinds.replay) {
        replaying += 1;
        // Number 0 marks a replayed line, whose answer is discarded.
        lines.receive(frame.bytes, 0);
      } else if (replaying > 0) held.push(frame);
      else take(frame);
    };
  };

  const server = createServer(accept);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(serving.socketPath, () => {
      server.off('error', reject);
      server.on('error', (error) => log.warn('cannot accept other clients', { error }));
      if (idleMs !== undefined) idle = setTimeout(leaveIfUnused, Math.max(idleMs, firstClientMs));
      resolve({
        get clients() {
          return connections.size;
        },
        print(text) {
          for (const connection of connections) connection.print(text);
        },
        ended: ended.promise,
        async close() {
          const served = [...connections];
          leaving = true;
          serving.leave();
          server.close();
          await Promise.all(served.map((connection) => connection.finish()));
          await Promise.all(served.map(({ socket }) => new Promise<void>((done) => socket.end(done))));
          connections.clear();
          leaveIfUnused();
        },
      });
    });
  });
}

interface FrameOutput extends LineOutput {
  print(text: string): void;
  leave(lastLine: number): void;
  bye(ends: boolean): void;
}

/** Joins the frames of one event-loop tick into one write. Discards answers to line 0, which marks replayed lines. */
function createFrameOutput(socket: Socket, replayed: () => void): FrameOutput {
  let waiting: Buffer[] = [];
  let left = false;
  const flush = (): void => {
    const bytes = Buffer.concat(waiting);
    waiting = [];
    if (bytes.length > 0 && !socket.destroyed) socket.write(bytes);
  };
  const send = (kind: number, line: number, content: string | Buffer = ''): void => {
    if (waiting.length === 0) setImmediate(flush);
    waiting.push(encodeFrame(kind, line, content));
  };
  const about = (kind: number, line: number): void => {
    if (line > 0) send(kind, line);
  };
  return {
    write(message, answers) {
      if (answers === 0) replayed();
      else send(frameKinds.message, answers ?? 0, `${JSON.stringify(message)}\n`);
    },
    noAnswer(line) {
      if (line === 0) replayed();
      // After `leave`, dropped lines stay unanswered, so that the next owner or the relay answers them.
      if (!left) about(frameKinds.noAnswer, line);
    },
    keep: (line) => about(frameKinds.keep, line),
    async drained() {
      while (socket.writableLength > unsentBytesMax && !socket.destroyed) {
        await new Promise<void>((resolve) => {
          const go = (): void => {
            socket.off('drain', go);
            socket.off('close', go);
            resolve();
          };
          socket.on('drain', go);
          socket.on('close', go);
        });
      }
    },
    // Resolves once everything is sent, because the process may exit next.
    end() {
      flush();
      return new Promise((resolve) => socket.write('', () => resolve()));
    },
    print(text) {
      if (text !== '') send(frameKinds.stderr, 0, text);
    },
    leave(lastLine) {
      left = true;
      send(frameKinds.leaving, lastLine);
    },
    bye(ends) {
      send(frameKinds.bye, ends ? 1 : 0);
      flush();
    },
  };
}

function readHello(bytes: Buffer): Hello | undefined {
  try {
    const hello: Partial<Hello> | null = JSON.parse(bytes.toString('utf8'));
    const { secret, wants, client, folder } = hello ?? {};
    if (typeof secret !== 'string' || typeof client !== 'string' || typeof folder !== 'string') return undefined;
    return { secret, wants: wants === 'status' ? wants : 'service', client, folder };
  } catch {
    return undefined;
  }
}

function isSame(actual: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(actual), digest(expected));
}
