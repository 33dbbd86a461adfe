import type { SharedStore } from '../base/shared-store.ts';
import {
  type Beginning,
  type Ending,
  type StoredTask,
  stateEveryMs,
  type TaskState,
  type TaskStore,
} from './task-store.ts';

const kind = 'task';
const beginningPart = 0;
const endPart = 1;
const statePart = 2;
/** Answers to questions follow, by the number in the question's key. */
const firstAnswerPart = 10;

/** A process that is slow or has lost the database for a moment is not taken for dead. */
const stateLastsMs = 6 * stateEveryMs;

/** Tasks in a database, for processes that share nothing else. */
export function createTaskRows(shared: SharedStore, { runMs, keepMs }: { runMs: number; keepMs: number }): TaskStore {
  const name = (id: string, part: number) => ({ kind, id, part });
  const read = async <Content>(id: string, part: number): Promise<Content | undefined> => {
    const bytes = await shared.read(name(id, part));
    return bytes && (JSON.parse(bytes.toString()) as Content);
  };
  const all = async (): Promise<StoredTask[]> => {
    const parts = await shared.list({ kind });
    const bytes = new Map<string, number>();
    for (const part of parts) bytes.set(part.id, (bytes.get(part.id) ?? 0) + part.bytes);
    return [...bytes].map(([id, sum]) => ({ id, bytes: sum }));
  };
  const lastsMs = runMs + 2 * keepMs;
  const writeBeginning = (id: string, beginning: Beginning) =>
    shared.put(name(id, beginningPart), json(beginning), lastsMs);
  return {
    // The database forgets by itself.
    prepare: async () => [],
    writeBeginning,
    replaceBeginning: writeBeginning,
    async writeEnd(id, ending) {
      const bytes = json(ending);
      if (await shared.add(name(id, endPart), bytes, 2 * keepMs)) await shared.touch({ kind, id }, 2 * keepMs);
      return bytes.length;
    },
    readBeginning: (id) => read<Beginning>(id, beginningPart),
    readEnding: (id) => read<Ending>(id, endPart),
    remove: (id) => shared.remove({ kind, id }),
    between: {
      all,
      writeState: (id, state) => shared.put(name(id, statePart), json(state), stateLastsMs),
      readState: (id) => read<TaskState>(id, statePart),
      dropState: (id) => shared.remove({ kind, id }, [statePart]),
      async leaveAnswer(id, key, value) {
        const number = Number(/-(\d{1,9})$/.exec(key)?.[1]);
        await shared.add(name(id, firstAnswerPart + number), json({ key, value }), lastsMs);
      },
      async look(ids) {
        const parts = await shared.list({ kind, ids });
        const ended = parts.filter(({ part }) => part === endPart).map(({ id }) => id);
        const answers = [];
        for (const { id, part } of parts.filter((each) => each.part >= firstAnswerPart)) {
          const answer = await read<{ key: string; value: unknown }>(id, part);
          if (answer) answers.push({ id, ...answer });
          await shared.remove({ kind, id }, [part]);
        }
        return { ended, answers };
      },
      tell: (id) => shared.tell({ about: 'task', id }),
      onTold: (listener) =>
        shared.onNotice((notice) => {
          if (notice.about === 'task') listener(notice.id);
        }),
    },
  };
}

function json(content: object): Buffer {
  return Buffer.from(JSON.stringify(content));
}
