import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { carrelProgram, startListening } from '../support/child-program.ts';
import { size } from '../support/sizes.ts';

const headings = size({ quick: 500_000, full: 2_000_000 });
/** Peaks of 290 to 318 MB, and 504 to 519 MB for the full size, were measured without an embedding model. */
const memoryMax = size({ quick: 365, full: 560 }) * 1024 * 1024;
/** The default of ANSWER_MAX_BYTES. */
const answerBytesMax = 4 * 1024 * 1024;

/** Security bar G7: the memory of the parent is bounded for any files. In full size, these two took more than 1 GB. */
test('files of millions of headings and keys do not fill the memory of the engine', async (t) => {
  const args = ['engine', '--port', '0'];
  const program = await startListening(carrelProgram, args, { ENABLE_RERANKING: 'true' });
  t.after(() => program.stop());
  const keys = Array.from({ length: headings / 5 }, (_, index) => `"key${index}":"value ${index}"`);
  const files = { 'headings.md': '# a\n'.repeat(headings), 'keys.json': `{${keys.join(',')}}` };
  const ids: number[] = [];
  for (const [name, text] of Object.entries(files)) {
    const form = new FormData();
    form.set('file', new Blob([text]), name);
    const answer = await fetch(`${program.url}/jobs`, { method: 'POST', body: form });
    assert.equal(answer.status, 202);
    ids.push(((await answer.json()) as { job_id: number }).job_id);
  }
  const documents: number[] = [];
  for (const id of ids) {
    for (;;) {
      const job = (await (await fetch(`${program.url}/jobs/${id}`)).json()) as {
        status: string;
        error: unknown;
        document_id: number;
      };
      if (job.status === 'done') {
        documents.push(job.document_id);
        break;
      }
      assert.ok(job.status === 'queued' || job.status === 'processing', `${job.status}: ${job.error}`);
      await pause(200);
    }
  }
  // Many concurrent answers that are not read to the end.
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => fetch(`${program.url}/documents/${documents[index % 2]}`)),
  );
  for (const answer of answers) {
    assert.ok(Number(answer.headers.get('content-length')) <= answerBytesMax);
    await answer.body?.cancel();
  }
  const { peak } = program.memory();
  assert.ok(peak <= memoryMax, `it took ${Math.round(peak / 1024 / 1024)} MB`);
});
