import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { withModels } from '../../support/child-program.ts';
import { connect } from './context-fixture.ts';

/** Ten notes about different things, and for each of them a question with the place of the note that answers it. */
interface Answered {
  readonly notes: readonly string[];
  readonly questions: readonly (readonly [question: string, answer: number])[];
}

const groups: readonly Answered[] = JSON.parse(
  readFileSync(new URL('../../support/answered-notes.json', import.meta.url), 'utf8'),
);

describe('the relevance of hits among unlike notes', () => {
  const { call, store } = connect('sqlite', withModels);
  const right: number[] = [];
  const wrong: number[] = [];

  before(async () => {
    for (const [group, { notes, questions }] of groups.entries()) {
      const ids: number[] = [];
      for (const note of notes) ids.push(await store(`group ${group}`, note));
      for (const [query, answer] of questions) {
        const { results } = await call('hybrid_search_context', { query, thread_id: `group ${group}`, limit: 10 });
        const relevance = new Map(results.map((hit) => [hit.id, Number(hit['relevance'])]));
        for (const [place, id] of ids.entries()) (place === answer ? right : wrong).push(relevance.get(id) ?? 0);
      }
    }
  });

  test('contract §8: right answers read as right, at .7 or more in three of four', () => {
    assert.equal(right.length, 60);
    const sure = right.filter((relevance) => relevance >= 0.7).length;
    assert.ok(sure >= 45, `${sure} of 60`);
  });

  test('contract §8: wrong ones read as wrong, at .2 or less in 95 of 100', () => {
    const low = wrong.filter((relevance) => relevance <= 0.2).length;
    assert.ok(low >= 0.95 * wrong.length, `${low} of ${wrong.length}`);
  });
});
