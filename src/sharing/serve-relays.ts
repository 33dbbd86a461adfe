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

export interface RelayServiceOptions {
  /** A unique path to listen on. */
  socketPath: string;
  secret: string;
  welcome: Welcome;
  /** Returns the reason if this process can't serve the relay. */
  refusal(hello: Hello): Refusal | undefined;
  /** Serves one client with its own log. */
  serveLines(client: string, log: Logger, output: LineOutput): ClientLines;
  /** Creates the log of one client. Messages for the user go to `print`. */
  createLog(client: string, print: (text: string) => void): Logger;
  /** Returns the messages for the user from this process's start. */
  outputAtStart(): string;
  log: Logger;
  /** How long to keep running without clients. Undefined: until `close` is called. */
  idleMs: number | undefined;
  /** Called before this process stops accepting clients. */
  leave(): void;
}

export interface RelayService {
  /** Sends a message for the user to every client's stderr. */
  print(text: string): void;
  /** Resolves when no clients are connected and none can connect. */
  readonly ended: Promise<void>;
  /** Stops accepting clients. Aborts calls that still run after the grace period. */
  close(graceMs: number): Promise<void>;
}

/** Max time for a relay's hello. */
const helloMs = 5_000;
const helloBytesMax = 64 * 1024;
/** Max time for the relay that started this process to connect. */
const firstClientMs = 10_000;
/** Max bytes of answers that the client has not read. Above it, the owner reads no further lines from the client. */
const unsentBytesMax = 16 * 1024 * 1024;
const frameOverheadMax = 1024;

interface Connection {
  socket: Socket;
  finish(graceMs: number): Promise<void>;
  print(text: string): void;
}

/** Serves any number of relays. Each relay has one stdio client. */
export function serveRelays(options: RelayServiceOptions): Promise<RelayService> {
  const { log, idleMs } = options;
  const connections = new Set<Connection>();
  const ended = Promise.withResolvers<void>();
  let isStopping = false;
  let idleTimer: NodeJS.Timeout | undefined;

  /** Stops accepting clients. The service ends when its last client disconnects. */
  const stopAccepting = (): void => {
    clearTimeout(idleTimer);
    if (!isStopping) {
      isStopping = true;
      options.leave();
      server.close();
    }
    if (connections.size === 0) ended.resolve();
  };

  const exitsWithoutClients = (): boolean => isStopping || idleMs === 0;

  const remove = (connection: Connection): void => {
    if (!connections.delete(connection)) return;
    const isLast = connections.size === 0;
    // The exit of this process closes the last connection, so that the relay exits after it.
    if (isLast && exitsWithoutClients()) stopAccepting();
    else connection.socket.end();
    if (isLast && !isStopping && idleMs !== undefined) idleTimer = setTimeout(stopAccepting, idleMs);
  };

  const accept = (socket: Socket): void => {
    let onFrame: ((frame: Frame) => void) | undefined;
    const timeout = setTimeout(() => socket.destroy(), helloMs);
    const read = createFrameReader(
      () => (onFrame ? options.welcome.bytesMax + frameOverheadMax : helloBytesMax),
      (frame) => {
        if (onFrame) {
          onFrame(frame);
          return;
        }
        clearTimeout(timeout);
        onFrame = answerHello(socket, frame);
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

  /** Answers the first frame. Returns the handler for all others. */
  const answerHello = (socket: Socket, frame: Frame): ((frame: Frame) => void) => {
    const ignore = (): void => {};
    const hello = frame.kind === frameKinds.hello ? readHello(frame.bytes) : undefined;
    if (hello === undefined || !isSameSecret(hello.secret, options.secret)) {
      log.warn("rejected a connection without this process's secret");
      socket.end(encodeFrame(frameKinds.refused, 0, 'unknown'));
      return ignore;
    }
    if (hello.wants === 'status') {
      socket.end(encodeFrame(frameKinds.welcome, 0, JSON.stringify({ clients: connections.size })));
      return ignore;
    }
    const refusal = isStopping ? 'outdated' : options.refusal(hello);
    if (refusal === undefined) return serve(socket, hello);
    log.info('client redirected', { reason: refusal });
    socket.end(encodeFrame(frameKinds.refused, 0, refusal));
    // Withdraws the announcement, so that a new owner with the current settings can start.
    if (refusal === 'outdated') stopAccepting();
    return ignore;
  };

  const serve = (socket: Socket, hello: Hello): ((frame: Frame) => void) => {
    clearTimeout(idleTimer);
    /** Lines that wait until the session is restored, so that subscriptions exist before calls change anything. */
    const queued: Frame[] = [];
    let pendingReplays = 0;
    const output = createFrameOutput(socket, () => {
      pendingReplays -= 1;
      if (pendingReplays === 0) for (const frame of queued.splice(0)) receive(frame);
    });
    const clientLog = options.createLog(hello.client, output.print);
    const lines = options.serveLines(hello.client, clientLog, output);
    let lastLine = 0;
    let isClosing = false;
    const connection: Connection = {
      socket,
      print: output.print,
      async finish(graceMs) {
        isClosing = true;
        output.leave(lastLine);
        await lines.finish(graceMs);
      },
    };
    connections.add(connection);
    log.info('client connected', { client: hello.client, clients: connections.size });
    socket.write(encodeFrame(frameKinds.welcome, 0, JSON.stringify(options.welcome)));
    output.print(options.outputAtStart());
    const disconnect = async (): Promise<void> => {
      if (isClosing) return;
      isClosing = true;
      await lines.finish();
      output.bye(connections.size === 1 && exitsWithoutClients());
      log.info('client disconnected', { client: hello.client });
      remove(connection);
    };
    socket.on('close', () => void disconnect().then(() => remove(connection)));
    socket.on('drain', () => socket.resume());
    const receive = ({ kind, line, bytes }: Frame): void => {
      if (isClosing) return;
      if (kind === frameKinds.end) {
        void disconnect();
        return;
      }
      lastLine = line;
      if (kind === frameKinds.line) lines.receive(bytes, line);
      else if (kind === frameKinds.tooLong) lines.refuse(line);
    };
    return (frame) => {
      if (isClosing) return;
      if (socket.writableLength > unsentBytesMax) socket.pause();
      if (frame.kind === frameKinds.replay) {
        pendingReplays += 1;
        // Number 0 marks a replayed line, whose answer is discarded.
        lines.receive(frame.bytes, 0);
      } else if (pendingReplays > 0) queued.push(frame);
      else receive(frame);
    };
  };

  const server = createServer(accept);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.socketPath, () => {
      server.off('error', reject);
      server.on('error', (error) => log.warn('cannot accept other clients', { error }));
      if (idleMs !== undefined) idleTimer = setTimeout(stopAccepting, Math.max(idleMs, firstClientMs));
      resolve({
        print(text) {
          for (const connection of connections) connection.print(text);
        },
        ended: ended.promise,
        async close(graceMs) {
          const open = [...connections];
          stopAccepting();
          await Promise.all(open.map((connection) => connection.finish(graceMs)));
          await Promise.all(open.map(({ socket }) => new Promise<void>((done) => socket.end(done))));
          connections.clear();
          ended.resolve();
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

/** Joins the frames of one event-loop tick into one write. Discards the answers to replayed lines, whose number is 0. */
function createFrameOutput(socket: Socket, replayed: () => void): FrameOutput {
  let unsent: Buffer[] = [];
  let isLeaving = false;
  const flush = (): void => {
    const bytes = Buffer.concat(unsent);
    unsent = [];
    if (bytes.length > 0 && !socket.destroyed) socket.write(bytes);
  };
  const send = (kind: number, line: number, content = ''): void => {
    if (unsent.length === 0) setImmediate(flush);
    unsent.push(encodeFrame(kind, line, content));
  };
  const sendForLine = (kind: number, line: number): void => {
    if (line > 0) send(kind, line);
  };
  return {
    write(message, answeredLine) {
      if (answeredLine === 0) replayed();
      else send(frameKinds.message, answeredLine ?? 0, `${JSON.stringify(message)}\n`);
    },
    noAnswer(line) {
      if (line === 0) replayed();
      // Lines dropped while leaving stay unanswered: the next owner or the relay answers them.
      if (!isLeaving) sendForLine(frameKinds.noAnswer, line);
    },
    keep: (line) => sendForLine(frameKinds.keep, line),
    async drained() {
      while (socket.writableLength > unsentBytesMax && !socket.destroyed) {
        await new Promise<void>((resolve) => {
          const proceed = (): void => {
            socket.off('drain', proceed);
            socket.off('close', proceed);
            resolve();
          };
          socket.on('drain', proceed);
          socket.on('close', proceed);
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
      isLeaving = true;
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

function isSameSecret(actual: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(actual), digest(expected));
}
