export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** How the work ended: with what the call would have answered, or with its error, or not at all. */
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
  /** From its creation. Grows while the work goes on. */
  ttlMs: number;
  pollIntervalMs: number;
  /** What the client is asked, by key. */
  inputRequests?: Record<string, object>;
  result?: object;
  error?: TaskError;
}

/** What is known of a task that may belong to an earlier process. */
export interface FoundTask {
  view: TaskView;
  tool: string;
  /** Work that goes on by itself, and that nobody in this process follows. */
  leftWork?: string;
}

/** A task whose work runs in this process. */
export interface Task {
  readonly id: string;
  view(): TaskView;
  report(message: string): void;
  /** The rest goes on by itself under this name, also after a restart. Resolves when that is on disk. */
  lasts(work: string): Promise<void>;
  /** Resolves when everything is answered, with the answers under the same keys. */
  ask(requests: Readonly<Record<string, object>>): Promise<Record<string, unknown>>;
  /** Only the first end counts. */
  end(outcome: TaskOutcome): Promise<void>;
}

export interface NewTask {
  owner: string;
  tool: string;
  cancel(): void;
  /** See `Task.lasts`. */
  work?: string | undefined;
}

/**
 * Calls that are answered with a task. A task and its end are on disk before they are reported.
 * To anyone but its owner a task is as unknown as one that never existed.
 */
export interface Tasks {
  /** Undefined if there are too many, or the disk takes no more: then the caller waits for the answer itself. */
  start(task: NewTask): Promise<Task | undefined>;
  get(id: unknown, owner: string): Promise<FoundTask>;
  /** Answers to questions that are open; others are ignored. */
  answer(id: unknown, owner: string, answers: Readonly<Record<string, unknown>>): Promise<void>;
  cancel(id: unknown, owner: string): Promise<FoundTask>;
  /** Ends a task that nobody in this process follows. */
  endLeft(id: string, outcome: TaskOutcome): Promise<void>;
  /** Tells of every change of a task in this process. */
  onChange(listener: (id: string) => void): () => void;
  /** From now on no end is written: work that a stop breaks off must not look as if it had failed by itself. */
  close(): Promise<void>;
}
