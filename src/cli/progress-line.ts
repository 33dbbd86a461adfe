/** One line on a terminal that is overwritten as work proceeds. Elsewhere it prints nothing. */
export interface ProgressLine {
  show(text: string): void;
  /** Erases it, so that other output can follow. */
  clear(): void;
}

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Faster than anybody reads. */
const redrawMs = 80;

export function createProgressLine(terminal: Terminal, now: () => number = () => performance.now()): ProgressLine {
  if (terminal.isTTY !== true) return { show() {}, clear() {} };
  let shownAt = Number.NEGATIVE_INFINITY;
  let isShown = false;
  return {
    show(text) {
      if (now() - shownAt < redrawMs) return;
      shownAt = now();
      isShown = true;
      // A line that wraps could not be overwritten.
      terminal.write(`\r\u001b[K${text.slice(0, (terminal.columns || 80) - 1)}`);
    },
    clear() {
      if (isShown) terminal.write('\r\u001b[K');
      isShown = false;
      shownAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** A line for each phase, for logs: what changes within a phase (numbers) makes no further line. */
export function createPhaseLines(output: Pick<Terminal, 'write'>): ProgressLine {
  let phase = '';
  return {
    show(text) {
      const name = text.replace(/[\d/., %]+$/, '');
      if (name !== phase) output.write(`carrel: ${name}\n`);
      phase = name;
    },
    clear() {},
  };
}
