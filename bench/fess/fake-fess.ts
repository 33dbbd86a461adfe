/** Runs the fake Fess in a separate process, so that its work does not slow down the measured programs. */
import { generateCorpus } from '../../test/fakes/fess/corpus.ts';
import { startFakeFess } from '../../test/fakes/fess/start-fake-fess.ts';

const fess = await startFakeFess({ version: '15.4', ...generateCorpus({ documentsPerLabel: 20 }) });
// Discards the requests that the fake records for tests: a benchmark makes too many.
fess.onRequest(() => {
  fess.requests.length = 0;
});
process.stderr.write(`listening on ${fess.url}\n`);
