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

/** A task as its owner sees it. Times are ISO 8601. */
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

/** A task of this process or of another one. */
export interface FoundTask {
  view: TaskView;
  tool: string;
  /** The name of background work that continues although no process waits for it. */
  unfinishedWork?: string;
}

/** A task whose work runs in this process. */
export interface Task {
  readonly id: string;
  view(): TaskView;
  report(message: string): void;
  /** Names the background work that continues the task, even after a restart. Resolves when the name is on disk. */
  continueAs(work: string): Promise<void>;
  /** Asks the client. Resolves with all answers, under the same keys. */
  ask(requests: Readonly<Record<string, object>>): Promise<Record<string, unknown>>;
  /** Ends the task. Only the first outcome counts. */
  end(outcome: TaskOutcome): Promise<void>;
}

export interface NewTask {
  owner: string;
  tool: string;
  cancel(): void;
  work?: string | undefined;
}

/** Calls that are answered with a task. A task and its outcome are stored before they are reported. Only the owner sees a task. */
export interface Tasks {
  /** Creates a task. Returns undefined if there are too many or the disk is full; the call then runs without a task. */
  start(task: NewTask): Promise<Task | undefined>;
  get(id: unknown, owner: string): Promise<FoundTask>;
  /** Answers open questions; others are ignored. */
  answer(id: unknown, owner: string, answers: Readonly<Record<string, unknown>>): Promise<void>;
  cancel(id: unknown, owner: string): Promise<FoundTask>;
  /** Ends a task that no process waits for. */
  endAbandoned(id: string, outcome: TaskOutcome): Promise<void>;
  /** Reports every change of a task. Returns a function that removes the listener. */
  onChange(listener: (id: string) => void): () => void;
  /** Closes without ending the tasks, because work that a shutdown interrupts has not failed. */
  close(): Promise<void>;
}
