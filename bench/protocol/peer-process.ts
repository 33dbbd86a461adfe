import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface PeerProcess {
  readonly pid: number;
  send(line: string): void;
  /** Returns the next line that the process prints. */
  nextLine(): Promise<string>;
  kill(): Promise<void>;
  /** Closes the input of the process and waits until it exits. */
  end(): Promise<void>;
}

export function startPeer(argv: readonly string[]): PeerProcess {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(process.execPath, [...argv], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines: string[] = [];
  const readers: PromiseWithResolvers<string>[] = [];
  let partialLine = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const completeLines = (partialLine + text).split('\n');
    partialLine = completeLines.pop() ?? '';
    for (const line of completeLines) {
      const reader = readers.shift();
      if (reader) reader.resolve(line);
      else lines.push(line);
    }
  });
  child.once('exit', (code) => {
    for (const reader of readers) reader.reject(new Error(`${argv.join(' ')} ended with ${code}`));
  });
  return {
    pid: child.pid ?? 0,
    send: (line) => void child.stdin.write(`${line}\n`),
    nextLine() {
      const line = lines.shift();
      if (line !== undefined) return Promise.resolve(line);
      const reader = Promise.withResolvers<string>();
      readers.push(reader);
      return reader.promise;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async end() {
      child.stdin.end();
      await exited;
    },
  };
}
