import type { TaskOutcome } from './task.ts';

/** What is stored of a task from its beginning. */
export interface Beginning {
  owner: string;
  tool: string;
  createdAt: number;
  /** Whose work it is; see lease-owner. */
  process: string;
  work?: string;
}

export interface Ending {
  endedAt: number;
  outcome: TaskOutcome;
}

/** How a task stands that runs in another process. */
export interface TaskState {
  updatedAt: number;
  message?: string;
  /** By key. */
  questions: Record<string, object>;
}

export interface StoredTask {
  id: string;
  bytes: number;
  endedAt?: number;
}

/** Where tasks are kept. What was written is on disk when a promise resolves. */
export interface TaskStore {
  /** Removes what is old, and makes the place. Returns the ends that are kept there. */
  prepare(): Promise<StoredTask[]>;
  writeBeginning(id: string, beginning: Beginning): Promise<void>;
  replaceBeginning(id: string, beginning: Beginning): Promise<void>;
  /** The first end is the one that counts, also among processes. Returns the bytes of this one. */
  writeEnd(id: string, ending: Ending): Promise<number>;
  readBeginning(id: string): Promise<Beginning | undefined>;
  readEnding(id: string): Promise<Ending | undefined>;
  remove(id: string): Promise<void>;
  /** Where processes on several machines keep their tasks together. */
  readonly between?: TasksBetween;
}

/** What processes know of one another's tasks, and want of them. */
export interface TasksBetween {
  all(): Promise<StoredTask[]>;
  /** Lasts for a while and is written again until then: without it, nobody works on the task any more. */
  writeState(id: string, state: TaskState): Promise<void>;
  readState(id: string): Promise<TaskState | undefined>;
  dropState(id: string): Promise<void>;
  /** For the process in which the task runs. The first answer to a question counts. */
  leaveAnswer(id: string, key: string, value: unknown): Promise<void>;
  /** Of these, those that another process has ended, and answers, each of which is told once. */
  look(ids: readonly string[]): Promise<{ ended: string[]; answers: { id: string; key: string; value: unknown }[] }>;
  tell(id: string): void;
  onTold(listener: (id: string) => void): () => void;
}

/** How often a process looks, or writes again how its tasks stand. */
export const lookMs = 2_000;
export const stateEveryMs = 20_000;
