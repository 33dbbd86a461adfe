import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { size } from '../../support/sizes.ts';
import type { ContextServer } from './context-fixture.ts';

/** Ten notes on different subjects, and a question for each with the index of the note that answers it. */
interface Answered {
  readonly notes: readonly string[];
  readonly questions: readonly (readonly [question: string, answer: number])[];
}

const everyGroup: readonly Answered[] = JSON.parse(
  readFileSync(new URL('../../support/answered-notes.json', import.meta.url), 'utf8'),
);
const groups = everyGroup.slice(0, size({ quick: 3, full: 6 }));

export function relevanceOfHits({ callEmbedded: call, store }: ContextServer): void {
  const right: number[] = [];
  const wrong: number[] = [];

  before(async () => {
    for (const [group, { notes, questions }] of groups.entries()) {
      const ids: number[] = [];
      for (const note of notes) ids.push(await store(`group ${group}`, note));
      for (const [query, answer] of questions) {
        const { results } = await call('hybrid_search_context', { query, thread_id: `group ${group}`, limit: 10 });
        const relevance = new Map(results.map((hit) => [hit.id, Number(hit['relevance'])]));
        for (const [index, id] of ids.entries()) (index === answer ? right : wrong).push(relevance.get(id) ?? 0);
      }
    }
  });

  test('contract §8: right answers read as right, at .7 or more for 50 of 60 questions', () => {
    assert.equal(right.length, 10 * groups.length);
    const sure = right.filter((relevance) => relevance >= 0.7).length;
    assert.ok(sure >= (50 / 60) * right.length, `${sure} of ${right.length}`);
  });

  test('contract §8: wrong answers read as wrong, at .2 or less in 95 of 100', () => {
    const low = wrong.filter((relevance) => relevance <= 0.2).length;
    assert.ok(low >= 0.95 * wrong.length, `${low} of ${wrong.length}`);
  });

  test('contract §8: a replaced statement does not lower its replacement', async () => {
    const thread = 'group 0';
    const older = await store(thread, 'Decision: the upload limit is 100 MB per file.');
    const newer = await store(thread, 'Decision changed: the upload limit is now 250 MB per file.');
    const query = 'How large may an upload be?';
    const { results } = await call('hybrid_search_context', { query, thread_id: thread });
    const [first, second] = results;
    assert.deepEqual([first?.id, second?.id], [newer, older]);
    assert.ok(Number(first?.['relevance']) >= 0.7, JSON.stringify(results));
  });
}
