import type { Task, TaskOutcome } from '../jobs/task.ts';
import type { Call } from '../tools/call.ts';
import type { Ask } from './asking.ts';

/** A call as the protocol layer holds it: it can outlive its answer. */
export interface IncomingCall extends Call {
  /** Lets the client cancel by the request's id after the answer; returns a function that ends that. */
  keepCancellable(cancel: () => void): () => void;
  /** Absent if the client can't ask its user. */
  ask?: Ask;
  /** Absent if the client takes no tasks. */
  tasks?: TaskDesk;
}

/** How calls of one client become tasks. */
export interface TaskDesk {
  /** Undefined if none can be kept now. */
  start(tool: string, cancel: () => void, work: string | undefined): Promise<Task | undefined>;
  /** What the call would have answered. */
  render(tool: string, outcome: { result: object } | { failure: unknown }): TaskOutcome;
}
