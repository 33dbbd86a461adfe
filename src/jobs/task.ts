export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** How the work ended: with the call's answer, with an error, or cancelled. */
export type TaskOutcome =
  | { status: 'completed'; result: object }
  | { status: 'failed'; error: TaskError }
  | { status: 'cancelled' };

export interface TaskError {
  code: number;
  message: string;
  data?: unknown;
}

/** A task as its owner sees it. Times are ISO-8601. */
export interface TaskView {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  /** Lifetime, counted from the task's creation. Grows while the work runs. */
  ttlMs: number;
  pollIntervalMs: number;
  /** Open questions to the client, by key. */
  inputRequests?: Record<string, object>;
  result?: object;
  error?: TaskError;
}

/** A task that may belong to an earlier process. */
export interface FoundTask {
  view: TaskView;
  tool: string;
  /** Work that continues without a follower in this process. */
  leftWork?: string;
}

/** A task whose work runs in this process. */
export interface Task {
  readonly id: string;
  view(): TaskView;
  report(message: string): void;
  /** The rest of the work continues under this name, even after a restart. Resolves when the name is on disk. */
  lasts(work: string): Promise<void>;
  /** Resolves with all answers, under the same keys. */
  ask(requests: Readonly<Record<string, object>>): Promise<Record<string, unknown>>;
  /** Only the first end counts. */
  end(outcome: TaskOutcome): Promise<void>;
}

export interface NewTask {
  owner: string;
  tool: string;
  cancel(): void;
  work?: string | undefined;
}

/**
 * Calls that are answered with a task. A task and its end are on disk before they are reported. Only the owner can see a task.
 */
export interface Tasks {
  /** Undefined if there are too many or the disk is full: then the caller waits for the answer itself. */
  start(task: NewTask): Promise<Task | undefined>;
  get(id: unknown, owner: string): Promise<FoundTask>;
  /** Answers open questions; others are ignored. */
  answer(id: unknown, owner: string, answers: Readonly<Record<string, unknown>>): Promise<void>;
  cancel(id: unknown, owner: string): Promise<FoundTask>;
  /** Ends a task that nobody in this process follows. */
  endLeft(id: string, outcome: TaskOutcome): Promise<void>;
  /** Called on every change of a task in this process. */
  onChange(listener: (id: string) => void): () => void;
  /** No end is written after this: work interrupted by a stop must not look as if it had failed. */
  close(): Promise<void>;
}
