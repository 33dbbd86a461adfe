import { connect, type Socket } from 'node:net';
import {
  createFrameReader,
  encodeFrame,
  type Frame,
  frameKinds,
  type Hello,
  type Refusal,
  type Welcome,
} from './frames.ts';
import type { Announcement } from './owner-files.ts';

/** A connection to the shared process (the owner) that serves this client. */
export interface Link {
  socket: Socket;
  welcome: Welcome;
  /** Passes all frames after the welcome to `onFrame`. Calls `onClose` when the connection ends. */
  listen(onFrame: (frame: Frame) => void, onClose: () => void): void;
}

/** Timeout for the owner's welcome. It usually takes milliseconds, unless the machine is overloaded. */
const welcomeTimeoutMs = 10_000;

/** Connects to an owner. Returns `silent` if a process listens but doesn't answer, and undefined if none listens. */
export function reachOwner(
  { socket: path, secret }: Announcement,
  client: string,
  wants: Hello['wants'] = 'service',
): Promise<Link | Refusal | 'silent' | undefined> {
  return new Promise((resolve) => {
    const earlyFrames: Frame[] = [];
    let onFrame = (frame: Frame): void => void earlyFrames.push(frame);
    let onClose: (() => void) | undefined;
    let isClosed = false;
    let link: Link | undefined;
    const socket = connect(path);
    const timeout = setTimeout(() => {
      resolve('silent');
      socket.destroy();
    }, welcomeTimeoutMs);
    const read = createFrameReader(
      () => Number.POSITIVE_INFINITY,
      (frame) => {
        if (link) {
          onFrame(frame);
          return;
        }
        clearTimeout(timeout);
        if (frame.kind !== frameKinds.welcome) {
          resolve(frame.bytes.toString() as Refusal);
          socket.destroy();
          return;
        }
        link = {
          socket,
          welcome: JSON.parse(frame.bytes.toString()),
          listen(frameListener, closeListener) {
            onFrame = frameListener;
            onClose = closeListener;
            for (const each of earlyFrames.splice(0)) onFrame(each);
            if (isClosed) onClose();
          },
        };
        resolve(link);
      },
    );
    socket.once('connect', () => {
      const hello: Hello = { secret, wants, client, folder: process.cwd() };
      socket.write(encodeFrame(frameKinds.hello, 0, JSON.stringify(hello)));
    });
    socket.on('data', read);
    // The `close` event follows and handles it.
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(timeout);
      isClosed = true;
      resolve(undefined);
      onClose?.();
    });
  });
}
