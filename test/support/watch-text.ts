import type { Readable } from 'node:stream';

export interface TextWatch {
  /** Returns the text received so far. */
  text(): string;
  /** Waits until the text matches. Rejects if the stream ends before that. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Reads a stream of text, and lets tests wait for output instead of for time to pass. */
export function watchText(stream: Readable): TextWatch {
  let text = '';
  let isEnded = false;
  const watchers = new Set<() => void>();
  const checkAll = (): void => {
    for (const check of watchers) check();
  };
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    checkAll();
  });
  stream.once('close', () => {
    isEnded = true;
    checkAll();
  });
  return {
    text: () => text,
    waitForOutput: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const match = pattern.exec(text);
          if (match) resolve(match);
          else if (isEnded) reject(new Error(`the stream ended without ${pattern}:\n${text}`));
          else return;
          watchers.delete(check);
        };
        watchers.add(check);
        check();
      }),
  };
}
