import type { NewEntry } from '../../../storage/contracts/entries.ts';
import { normaliseTags } from '../tags.ts';

const thread = 'memory';

/** One line of the reference memory server's file: an entity with its observations, or a relation between two. */
export function entryOfMemory(line: Readonly<Record<string, unknown>>, now: string): NewEntry | undefined {
  const common = {
    threadId: thread,
    source: 'agent' as const,
    images: [],
    summary: undefined,
    createdAt: now,
    updatedAt: now,
  };
  const text = (key: string) => (typeof line[key] === 'string' ? line[key] : '');
  if (line['type'] === 'entity' && text('name') !== '') {
    const observations = Array.isArray(line['observations']) ? line['observations'].map(String) : [];
    const kind = text('entityType');
    return {
      ...common,
      text: [`${text('name')}${kind === '' ? '' : ` (${kind})`}`, ...observations.map((each) => `- ${each}`)].join(
        '\n',
      ),
      metadata: { entity: text('name'), entity_type: kind },
      tags: normaliseTags(kind === '' ? [] : [kind]),
    };
  }
  if (line['type'] === 'relation' && text('from') !== '' && text('to') !== '') {
    return {
      ...common,
      text: `${text('from')} ${text('relationType')} ${text('to')}`,
      metadata: { from: text('from'), to: text('to'), relation_type: text('relationType') },
      tags: ['relation'],
    };
  }
  return undefined;
}
