/** A status line that is redrawn on a terminal. Without a terminal, nothing is shown. */
export interface ProgressLine {
  show(text: string): void;
  /** Erases the line before other output. */
  clear(): void;
}

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const redrawMs = 80;

export function createProgressLine(terminal: Terminal): ProgressLine {
  if (terminal.isTTY !== true) return { show() {}, clear() {} };
  let shownAt = Number.NEGATIVE_INFINITY;
  let isShown = false;
  return {
    show(text) {
      if (performance.now() - shownAt < redrawMs) return;
      shownAt = performance.now();
      isShown = true;
      // A wrapped line can't be overwritten.
      terminal.write(`\r\u001b[K${text.slice(0, (terminal.columns || 80) - 1)}`);
    },
    clear() {
      if (isShown) terminal.write('\r\u001b[K');
      isShown = false;
      shownAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Prints one line per phase, for logs. Changing numbers within a phase print nothing. */
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

const barWidth = 24;

export function renderBar(fraction: number): string {
  const filled = Math.round(Math.min(1, fraction) * barWidth);
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`;
}
