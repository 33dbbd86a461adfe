import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { exitCodes } from '../base/exit-codes.ts';
import { isRunning } from '../base/is-running.ts';
import { createLineReader, type LineReader } from '../mcp/stdio/line-reader.ts';
import type { OwnerFinder } from './find-owner.ts';
import { encodeFrame, type Frame, frameKinds } from './frames.ts';
import { type Unanswered, whatToDo } from './lost-lines.ts';
import type { Link } from './reach-owner.ts';
import { createSessionLines } from './session-lines.ts';

export interface Relaying {
  /** Resolves with the exit code when nothing is left to relay. */
  readonly ended: Promise<number>;
  /** Acts as if the client had closed its input. */
  end(): void;
}

/** Max owners that may die within `lossesMs`. After that, the next one would probably die the same way. */
const lossesMax = 5;
const lossesMs = 60_000;
/** Max unanswered lines, so that one client does not fill the memory of the shared process. */
const unansweredMax = 1_000;
/** How long to wait for an owner to exit after it closed the connection. */
const endingMs = 100;
const endingPollMs = 2;
/** How long to wait for an owner to close the connection after its `bye`. */
const farewellMs = 6_000;

/**
 * Relays a client's lines to the owner, and the answers back. Keeps unanswered lines: if the owner dies, the relay finds
 * another, restores the session, repeats lines that are safe to repeat and answers the others with an error.
 */
export function relayLines(
  first: Link,
  finder: Pick<OwnerFinder, 'find'>,
  input: Readable,
  output: Writable,
  errors: Writable,
): Relaying {
  const ended = Promise.withResolvers<number>();
  const unanswered = new Map<number, Unanswered>();
  /** Lines that changed the session. Once answered, they are kept for replay. */
  const marked = new Set<number>();
  const session = createSessionLines();
  let losses: number[] = [];
  let link: Link | undefined;
  let count = 0;
  let inputEnded = false;
  /** Set when all lines are answered. Says whether the owner exits too or stays for other clients. */
  let farewell: 'stays' | 'ends' | undefined;
  /** The last line that the owner accepts before it exits. */
  let acceptedUpTo = Number.POSITIVE_INFINITY;

  const finish = (code: number): void => void output.write('', () => ended.resolve(code));

  const send = (kind: number, line = 0, bytes?: Buffer): void =>
    void link?.socket.write(encodeFrame(kind, line, bytes));

  /** Pauses reading while there is no owner, or while it can't keep up. */
  const keepPace = (): void => {
    const isBehind = link === undefined || link.socket.writableNeedDrain || unanswered.size >= unansweredMax;
    if (isBehind) input.pause();
    else input.resume();
  };

  const sendLine = (line: number, { bytes }: Unanswered): void =>
    send(bytes === undefined ? frameKinds.tooLong : frameKinds.line, line, bytes);

  const takeLine = (bytes: Buffer | undefined): void => {
    count += 1;
    const line = { bytes, repeated: false };
    unanswered.set(count, line);
    if (acceptedUpTo === Number.POSITIVE_INFINITY) sendLine(count, line);
    keepPace();
  };

  const finishLine = (line: number): void => {
    const bytes = unanswered.get(line)?.bytes;
    if (marked.delete(line) && bytes !== undefined) session.add(bytes);
    if (unanswered.delete(line)) keepPace();
  };

  const takeFrame = ({ kind, line, bytes }: Frame): void => {
    switch (kind) {
      case frameKinds.message:
        if (!output.write(bytes)) link?.socket.pause();
        finishLine(line);
        return;
      case frameKinds.noAnswer:
        finishLine(line);
        return;
      case frameKinds.keep:
        marked.add(line);
        return;
      case frameKinds.stderr:
        errors.write(bytes);
        return;
      case frameKinds.leaving:
        acceptedUpTo = line;
        return;
      case frameKinds.bye:
        farewell = line === 1 ? 'ends' : 'stays';
        setTimeout(() => finish(exitCodes.fine), farewellMs).unref();
    }
  };

  const attach = (next: Link): void => {
    link = next;
    acceptedUpTo = Number.POSITIVE_INFINITY;
    marked.clear();
    next.socket.on('drain', keepPace);
    for (const bytes of session.all()) send(frameKinds.replay, 0, bytes);
    for (const [line, each] of unanswered) sendLine(line, each);
    if (inputEnded) send(frameKinds.end);
    keepPace();
    next.listen(takeFrame, () => void onLinkLost(next));
  };

  const onLinkLost = async ({ welcome }: Link): Promise<void> => {
    link = undefined;
    keepPace();
    if (farewell !== undefined) {
      if (farewell === 'ends') await ending(welcome.pid);
      finish(exitCodes.fine);
      return;
    }
    const now = Date.now();
    losses = [...losses.filter((time) => now - time < lossesMs), now];
    for (const [number, line] of unanswered) {
      if (number > acceptedUpTo) continue;
      const { repeat, answer } = whatToDo(line, welcome);
      if (answer !== undefined) output.write(`${JSON.stringify(answer)}\n`);
      if (repeat) line.repeated = true;
      else unanswered.delete(number);
    }
    if (inputEnded && unanswered.size === 0) {
      finish(exitCodes.fine);
      return;
    }
    if (losses.length > lossesMax) {
      errors.write('carrel: the process that serves this client keeps exiting; see the log in the data folder\n');
      finish(exitCodes.unavailable);
      return;
    }
    const found = await finder.find();
    if (found.kind === 'link') {
      attach(found.link);
      return;
    }
    if (found.kind === 'alone')
      errors.write(
        'carrel: the process that served this client exited and cannot be replaced; see the log in the data folder\n',
      );
    finish(found.kind === 'failed' ? found.code : exitCodes.unavailable);
  };

  const endInput = (): void => {
    if (inputEnded) return;
    inputEnded = true;
    send(frameKinds.end);
  };

  const reader: LineReader = createLineReader(first.welcome.bytesMax, {
    line: takeLine,
    tooLong: () => takeLine(undefined),
  });
  attach(first);
  input.on('data', (chunk: Buffer) => {
    if (!inputEnded) reader.push(chunk);
  });
  input.on('end', () => {
    reader.end();
    endInput();
  });
  input.on('error', endInput);
  output.on('drain', () => link?.socket.resume());
  // The client no longer reads answers.
  output.on('error', () => ended.resolve(exitCodes.fine));
  errors.on('error', () => {});
  return { ended: ended.promise, end: endInput };
}

/** Waits until an owner has exited, for a short time. */
async function ending(pid: number): Promise<void> {
  const deadline = Date.now() + endingMs;
  while (isRunning(pid) && Date.now() < deadline) await delay(endingPollMs);
}
