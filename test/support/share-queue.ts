import assert from 'node:assert/strict';
import type { EngineClient } from './engine-client.ts';

const files = 10;

/** Checks that files sent alternately to several engines become documents exactly once, and that every engine finds them. */
export async function checkSharedQueue(engines: readonly EngineClient[]): Promise<void> {
  const jobs: number[] = [];
  for (let index = 0; index < files; index += 1) {
    const engine = engines[index % engines.length];
    assert.ok(engine);
    jobs.push(await engine.addFile(`shared-${index}.txt`, `shared file ${index}`));
  }
  for (const engine of engines) {
    const ids = new Set<number>();
    for (const job of jobs) ids.add(await engine.documentIdOf(job));
    assert.equal(ids.size, files);
    const [id] = ids;
    const bytes = await fetch(`${engine.url}/documents/${id}/file`);
    assert.match(await bytes.text(), /^shared file \d+$/);
    assert.equal((await engine.search({ query: 'shared' })).total_matches, files);
  }
}
