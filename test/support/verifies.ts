import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';

/** Declares a test for one or more clauses of a specification. `citedClauses` finds the clauses by reading the source. */
export function verifies(
  clauses: string | readonly string[],
  behaviour: string,
  run: (t: TestContext) => void | Promise<void>,
): void {
  test(`${[clauses].flat().join(', ')}: ${behaviour}`, run);
}

/** Returns the clauses that tests in these files cite: every quoted text that begins with the prefix. */
export function citedClauses(files: readonly string[], prefix: string): Set<string> {
  const quoted = new RegExp(`['"\`](${prefix} [^'"\`]+)['"\`]`, 'g');
  return new Set(
    files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(quoted)].map((match) => match[1] ?? '')),
  );
}
