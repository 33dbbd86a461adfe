import { createHash } from 'node:crypto';
import type { StoredTask } from './task-store.ts';

/** How many tasks there may be, and who has how many. */
export interface TaskRoom {
  /** One of this process, as it stands now. */
  count(task: StoredTask): void;
  /** One that an earlier process left. */
  countLeft(task: StoredTask): void;
  forget(id: string): void;
  endedBefore(time: number): string[];
  /** Whether one more of the owner may begin. `elsewhere`: what other processes have. */
  hasRoom(owner: string, elsewhere: readonly StoredTask[]): boolean;
}

export interface TaskRoomLimits {
  perOwnerMax?: number | undefined;
  allMax?: number | undefined;
  /** Of all ends on disk. */
  bytesMax?: number | undefined;
}

/** The beginning of an id: whose task it is, so that tasks are counted without being read. */
const markChars = 6;

export function createTaskRoom({
  perOwnerMax = 100,
  allMax = 1_000,
  bytesMax = 256 * 1024 * 1024,
}: TaskRoomLimits): TaskRoom {
  const counted = new Map<string, StoredTask>();
  const left = new Set<string>();
  return {
    count: (task) => void counted.set(task.id, task),
    countLeft(task) {
      counted.set(task.id, task);
      left.add(task.id);
    },
    forget(id) {
      counted.delete(id);
      left.delete(id);
    },
    endedBefore: (time) =>
      [...counted.values()].flatMap(({ id, endedAt }) => (endedAt !== undefined && endedAt < time ? [id] : [])),
    hasRoom(owner, elsewhere) {
      const all = [...counted.values(), ...elsewhere.filter(({ id }) => !counted.has(id))];
      const mark = markOf(owner);
      // What an earlier process left counts for all, but is held against nobody.
      const own = all.filter(({ id }) => !left.has(id) && id.startsWith(mark));
      const bytes = all.reduce((sum, each) => sum + each.bytes, 0);
      return own.length < perOwnerMax && all.length < allMax && bytes < bytesMax;
    },
  };
}

/** Everybody may know it who has the id; with the rest of it, it is never the same for two tasks. */
export function markOf(owner: string): string {
  return createHash('sha256').update(owner).digest('base64url').slice(0, markChars);
}
