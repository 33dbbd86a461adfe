import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { exitCodes } from '../base/exit-codes.ts';
import { isRunning } from '../base/is-running.ts';
import { createLineReader, type LineReader } from '../mcp/stdio/line-reader.ts';
import type { OwnerFinder } from './find-owner.ts';
import { encodeFrame, type Frame, frameKinds } from './frames.ts';
import { createSessionLines, recoverLine, type Unanswered } from './lost-lines.ts';
import type { Link } from './reach-owner.ts';

export interface Relay {
  /** Resolves with the exit code when nothing is left to relay. */
  readonly ended: Promise<number>;
  /** Acts as if the client had closed its input. */
  end(): void;
}

/** The relay gives up if more owners than this die within `lossesMs`. */
const lossesMax = 5;
const lossesMs = 60_000;
/** Max unanswered lines, so that one client can't fill the owner's memory. */
const unansweredMax = 1_000;
/** Max wait for an owner to exit after it closed the connection. */
const exitMs = 100;
const exitPollMs = 2;
/** Max wait for an owner to close the connection after its `bye`. */
const farewellMs = 6_000;

/**
 * Relays a client's lines to the owner, and the answers back. If the owner dies, the relay finds another one, restores the
 * session and repeats the unanswered lines that are safe to repeat. It answers the others with an error.
 */
export function relayLines(
  first: Link,
  finder: Pick<OwnerFinder, 'find'>,
  input: Readable,
  output: Writable,
  errors: Writable,
): Relay {
  const ended = Promise.withResolvers<number>();
  const unanswered = new Map<number, Unanswered>();
  /** Unanswered lines that changed the session. Once answered, they are added to `session`. */
  const sessionChanges = new Set<number>();
  const session = createSessionLines();
  let losses: number[] = [];
  let link: Link | undefined;
  let count = 0;
  let hasInputEnded = false;
  /** What the owner does after its `bye`: it exits too, or stays for other clients. */
  let farewell: 'stays' | 'exits' | undefined;
  /** The last line that the owner accepts before it exits. */
  let acceptedUpTo = Number.POSITIVE_INFINITY;

  const finish = (code: number): void => void output.write('', () => ended.resolve(code));

  const send = (kind: number, line = 0, bytes?: Buffer): void =>
    void link?.socket.write(encodeFrame(kind, line, bytes));

  /** Pauses reading while there is no owner, or while it can't keep up. */
  const updateFlow = (): void => {
    const mustWait = link === undefined || link.socket.writableNeedDrain || unanswered.size >= unansweredMax;
    if (mustWait) input.pause();
    else input.resume();
  };

  const sendLine = (line: number, { bytes }: Unanswered): void =>
    send(bytes === undefined ? frameKinds.tooLong : frameKinds.line, line, bytes);

  const receiveLine = (bytes: Buffer | undefined): void => {
    count += 1;
    const line = { bytes, repeated: false };
    unanswered.set(count, line);
    if (acceptedUpTo === Number.POSITIVE_INFINITY) sendLine(count, line);
    updateFlow();
  };

  const finishLine = (line: number): void => {
    const bytes = unanswered.get(line)?.bytes;
    if (sessionChanges.delete(line) && bytes !== undefined) session.add(bytes);
    if (unanswered.delete(line)) updateFlow();
  };

  const receiveFrame = ({ kind, line, bytes }: Frame): void => {
    switch (kind) {
      case frameKinds.message:
        if (!output.write(bytes)) link?.socket.pause();
        finishLine(line);
        return;
      case frameKinds.noAnswer:
        finishLine(line);
        return;
      case frameKinds.keep:
        sessionChanges.add(line);
        return;
      case frameKinds.stderr:
        errors.write(bytes);
        return;
      case frameKinds.leaving:
        acceptedUpTo = line;
        return;
      case frameKinds.bye:
        farewell = line === 1 ? 'exits' : 'stays';
        setTimeout(() => finish(exitCodes.ok), farewellMs).unref();
    }
  };

  const attach = (next: Link): void => {
    link = next;
    acceptedUpTo = Number.POSITIVE_INFINITY;
    sessionChanges.clear();
    next.socket.on('drain', updateFlow);
    for (const bytes of session.all()) send(frameKinds.replay, 0, bytes);
    for (const [line, each] of unanswered) sendLine(line, each);
    if (hasInputEnded) send(frameKinds.end);
    updateFlow();
    next.listen(receiveFrame, () => void onLinkLost(next));
  };

  const onLinkLost = async ({ welcome }: Link): Promise<void> => {
    link = undefined;
    updateFlow();
    if (farewell !== undefined) {
      if (farewell === 'exits') await waitForExit(welcome.pid);
      finish(exitCodes.ok);
      return;
    }
    const now = Date.now();
    losses = [...losses.filter((time) => now - time < lossesMs), now];
    for (const [number, line] of unanswered) {
      if (number > acceptedUpTo) continue;
      const { repeat, answer } = recoverLine(line, welcome);
      if (answer !== undefined) output.write(`${JSON.stringify(answer)}\n`);
      if (repeat) line.repeated = true;
      else unanswered.delete(number);
    }
    if (hasInputEnded && unanswered.size === 0) {
      finish(exitCodes.ok);
      return;
    }
    if (losses.length > lossesMax) {
      errors.write('carrel: the process that serves this client keeps exiting; see the log in the data folder\n');
      finish(exitCodes.unavailable);
      return;
    }
    const outcome = await finder.find();
    if (outcome.kind === 'link') {
      attach(outcome.link);
      return;
    }
    if (outcome.kind === 'alone')
      errors.write(
        'carrel: the process that served this client exited and cannot be replaced; see the log in the data folder\n',
      );
    finish(outcome.kind === 'failed' ? outcome.code : exitCodes.unavailable);
  };

  const endInput = (): void => {
    if (hasInputEnded) return;
    hasInputEnded = true;
    send(frameKinds.end);
  };

  const reader: LineReader = createLineReader(first.welcome.bytesMax, {
    line: receiveLine,
    tooLong: () => receiveLine(undefined),
  });
  attach(first);
  input.on('data', (chunk: Buffer) => {
    if (!hasInputEnded) reader.push(chunk);
  });
  input.on('end', () => {
    reader.end();
    endInput();
  });
  input.on('error', endInput);
  output.on('drain', () => link?.socket.resume());
  // The client no longer reads answers.
  output.on('error', () => ended.resolve(exitCodes.ok));
  errors.on('error', () => {});
  return { ended: ended.promise, end: endInput };
}

/** Waits for a short time until an owner has exited. */
async function waitForExit(pid: number): Promise<void> {
  const deadline = Date.now() + exitMs;
  while (isRunning(pid) && Date.now() < deadline) await delay(exitPollMs);
}
