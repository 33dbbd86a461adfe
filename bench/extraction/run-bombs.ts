import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isCarrelError } from '../../src/base/errors.ts';
import { createExtractor } from '../../src/documents/extractor.ts';
import { htmlBombs, otherBombs, pdfBombs } from '../../test/security/parsers/bombs.ts';

const smallPage = Buffer.from('<!doctype html><title>Small</title><p>A small page that must be served meanwhile.</p>');

/**
 * Reads every bomb with an extractor that has production settings and reads a small page at the same time. The stall is the
 * longest time for which this process's event loop was blocked.
 */
export async function runBombs(): Promise<void> {
  const extractor = createExtractor({ cpuMsMax: 5000, memoryMb: 256, workersMax: 2 });
  let longestMs = 0;
  console.log(
    `\n${'bomb'.padEnd(46)}${'bytes'.padStart(10)}${'ms'.padStart(7)}${'stall ms'.padStart(10)}  outcome, small page`,
  );
  for (const bomb of [...htmlBombs, ...otherBombs, ...pdfBombs]) {
    const bytes = bomb.bytes();
    // Creating the bomb blocks the loop, so the measurement starts later.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const stall = monitorEventLoopDelay({ resolution: 1 });
    stall.enable();
    const startMs = performance.now();
    const outcomePromise = extractor.extract({ bytes, contentType: bomb.contentType, mode: 'markdown' }).then(
      (document) => `${document.text.length} characters${document.truncated ? ', truncated' : ''}`,
      (error) => (isCarrelError(error) ? error.code : `UNEXPECTED: ${error}`),
    );
    const smallPromise = extractor.extract({ bytes: smallPage, contentType: 'text/html', mode: 'text' }).then(
      () => `served after ${Math.round(performance.now() - startMs)} ms`,
      (error) => `NOT SERVED: ${error}`,
    );
    const outcome = await outcomePromise;
    const tookMs = performance.now() - startMs;
    const smallOutcome = await smallPromise;
    stall.disable();
    const stallMs = stall.max / 1e6;
    longestMs = Math.max(longestMs, stallMs);
    const row = [
      bomb.name.padEnd(46),
      String(bytes.length).padStart(10),
      tookMs.toFixed(0).padStart(7),
      stallMs.toFixed(0).padStart(10),
    ];
    console.log(`${row.join('')}  ${outcome}; ${smallOutcome}`);
  }
  console.log(`longest stall: ${longestMs.toFixed(0)} ms (bound: 250 ms)`);
  await extractor.close();
}
