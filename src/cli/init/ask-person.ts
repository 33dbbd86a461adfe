import { createInterface } from 'node:readline';

/** Asks the user at the terminal. */
export interface Person {
  /** The typed line, trimmed; empty at the end of input. */
  ask(question: string): Promise<string>;
  close(): void;
}

/** Undefined without a terminal. */
export function findPerson(): Person | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Buffers lines typed ahead.
  const typed = lines[Symbol.asyncIterator]();
  return {
    async ask(question) {
      lines.setPrompt(question);
      lines.prompt();
      const { value, done } = await typed.next();
      return done === true ? '' : value.trim();
    },
    close: () => lines.close(),
  };
}
