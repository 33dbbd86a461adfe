import { createInterface } from 'node:readline';

/** Asks whoever sits at the terminal. */
export interface Person {
  /** What was typed, trimmed; empty if the input has ended. */
  ask(question: string): Promise<string>;
  close(): void;
}

/** Undefined where nobody sits. */
export function findPerson(): Person | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Keeps lines that were typed before they were asked for.
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
