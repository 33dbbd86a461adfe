import { createRandom } from '../statistics.ts';

export interface Operation {
  readonly name: string;
  readonly tool: string;
  readonly calls: number;
  /** The arguments of the next call. */
  input(): Record<string, unknown>;
}

/** Creates the calls to measure. A fixed seed makes them the same in every run. */
export function createWorkload(entriesCount: number, callsCount: number): Operation[] {
  const random = createRandom(7);
  const below = (bound: number) => Math.floor(random() * bound);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const words = Array.from(
    { length: 5000 },
    (_, index) => `${pick(['ba', 'ko', 'mi', 'tu', 're', 'sol'])}${index.toString(36)}`,
  );
  const states = ['pending', 'active', 'done', 'failed'];
  let entriesCreated = 0;

  const newEntry = () => {
    const number = entriesCreated++;
    return {
      thread_id: `thread ${number % 1000}`,
      source: number % 2 === 0 ? 'user' : 'agent',
      text: `${number} ${Array.from({ length: 30 }, () => pick(words)).join(' ')}`,
      tags: [`tag ${number % 50}`, `tag ${number % 7}`],
      metadata: {
        status: pick(states),
        priority: below(100),
        task_name: `${pick(words)} ${pick(words)}`,
        owner: { name: `name ${number % 1000}`, teams: [pick(words)] },
      },
    };
  };
  const operation = (name: string, tool: string, input: Operation['input'], calls = callsCount): Operation => ({
    name,
    tool,
    calls,
    input,
  });
  const search = (name: string, input: Operation['input']) =>
    operation(`search_context: ${name}`, 'search_context', input);
  const anyId = () => 1 + below(entriesCount);

  return [
    operation(
      'store_context_batch of 100',
      'store_context_batch',
      () => ({ entries: Array.from({ length: 100 }, newEntry) }),
      entriesCount / 100,
    ),
    operation('store_context', 'store_context', newEntry),
    operation('update_context: a patch', 'update_context', () => ({
      context_id: anyId(),
      metadata_patch: { status: pick(states) },
    })),
    search('newest 30', () => ({})),
    search('a thread', () => ({ thread_id: `thread ${below(1000)}` })),
    search('equal, indexed, 25 % match', () => ({ metadata: { status: pick(states) } })),
    search('number above, not indexed, 1 % match', () => ({
      metadata_filters: [{ key: 'priority', operator: 'gt', value: 98 }],
    })),
    search('equal, nested, not indexed, 0.1 % match', () => ({
      metadata: { 'owner.name': `name ${below(1000)}` },
    })),
    search('contains, indexed', () => ({
      metadata_filters: [{ key: 'task_name', operator: 'contains', value: pick(words) }],
    })),
    search('starts_with, indexed', () => ({
      metadata_filters: [{ key: 'task_name', operator: 'starts_with', value: pick(words) }],
    })),
    search('not_exists', () => ({ metadata_filters: [{ key: 'absent', operator: 'not_exists' }] })),
    search('a tag and a status', () => ({ tags: [`tag ${below(50)}`], metadata: { status: pick(states) } })),
    operation('fts_search_context: two words', 'fts_search_context', () => ({
      query: `${pick(words)} ${pick(words)}`,
    })),
    operation('fts_search_context: one word, filter passes 25 %', 'fts_search_context', () => ({
      query: pick(words),
      metadata: { status: pick(states) },
    })),
    operation('hybrid_search_context: five words', 'hybrid_search_context', () => ({
      query: Array.from({ length: 5 }, () => pick(words)).join(' '),
    })),
    operation('get_context_by_ids: ten', 'get_context_by_ids', () => ({
      context_ids: Array.from({ length: 10 }, anyId),
    })),
    operation('list_threads', 'list_threads', () => ({}), 20),
    operation('get_statistics', 'get_statistics', () => ({}), 20),
  ];
}
