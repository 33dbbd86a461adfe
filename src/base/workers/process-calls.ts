import type { ChildProcess } from 'node:child_process';
import { type Calls, createCalls } from './calls.ts';

/** The end of a process. */
export class ProcessEnded extends Error {
  readonly exitCode: number | null;
  readonly signal: string | null;

  constructor(exitCode: number | null, signal: string | null, cause?: unknown) {
    super(`the process ended (exit code ${exitCode}, signal ${signal})`, { cause });
    this.exitCode = exitCode;
    this.signal = signal;
  }
}

/** Creates calls to a forked process; `terminate` kills it. `exitError` gets a ProcessEnded, except after `terminate`. */
export function createProcessCalls<Request, Answer>(
  child: ChildProcess,
  exitError: (ended: ProcessEnded | undefined) => Error,
): Calls<Request, Answer> {
  return createCalls(
    {
      send: (message) => void child.send(Object(message)),
      setRef(isRef) {
        const method = isRef ? 'ref' : 'unref';
        child[method]();
        child.channel?.[method]();
      },
      terminate: () => void child.kill('SIGKILL'),
      onMessage: (listener) => child.on('message', listener),
      onEnd(listener) {
        child.once('exit', (exitCode, signal) => listener(new ProcessEnded(exitCode, signal)));
        // This listener is never removed: an unhandled error event would end the program.
        child.on('error', (error) => listener(new ProcessEnded(null, null, error)));
      },
    },
    (cause) => exitError(cause instanceof ProcessEnded ? cause : undefined),
  );
}
