import { isObject } from '../../base/json.ts';
import type { Task, TaskOutcome } from '../../jobs/task.ts';
import type { Operation } from '../../telemetry/recorder.ts';
import type { Call, ClientName } from '../../tools/call.ts';
import type { Era } from '../protocol-versions.ts';
import type { Watch } from '../sessions/watches.ts';
import type { Ask, AskingRequest } from './asking.ts';
import type { LinksTo } from './resource-links.ts';

export type Params = Record<string, unknown>;

/** A request as its method needs it, in any revision. */
export interface IncomingRequest extends AskingRequest {
  readonly id: string | number;
  /** For the recorder. */
  readonly about: Pick<Operation, 'transport' | 'revision' | 'sessionId' | 'requestId'>;
  readonly meta: Params | undefined;
  readonly client: ClientName;
  /** The client's declared capabilities. */
  readonly capabilities: unknown;
  /** Sends a notification while the request runs. */
  notify(method: string, params: Params): void;
  /** Lets the client cancel by request id after the answer; returns a function that revokes this. */
  keepCancellable?(cancel: () => void): () => void;
  /** Closes the connection but not the request: the client comes back for the answer. */
  hangUp?(): void;
}

/** A call that can outlive its answer. */
export interface IncomingCall extends Call {
  readonly era?: Era;
  keepCancellable(cancel: () => void): () => void;
  /** Absent if the client can't ask its user. */
  ask?: Ask;
  /** Absent if the client doesn't support tasks. */
  tasks?: TaskFactory;
  /** Since 2026-07-28: the client's answers to questions. */
  inputResponses?: Params | undefined;
  /** This client's subscriptions. */
  watch?(): Watch;
  /** Absent if the client gets no links. */
  linksTo?: LinksTo;
}

/** Creates tasks for one client's calls. */
export interface TaskFactory {
  /** Undefined if no more tasks can be stored now. */
  start(tool: string, cancel: () => void, work: string | undefined): Promise<Task | undefined>;
  /** The call's final answer. */
  render(tool: string, outcome: { result: object } | { failure: unknown }): TaskOutcome;
}

const clientNameUnitsMax = 100;

/** The client's own name and version, shortened. */
export function clientName(info: unknown): ClientName {
  const { name, version } = isObject(info) ? info : {};
  const short = (text: unknown) => (typeof text === 'string' ? text.slice(0, clientNameUnitsMax) : '');
  return { name: short(name) || 'unknown', version: short(version) };
}
