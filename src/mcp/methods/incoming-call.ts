import { isObject } from '../../base/json.ts';
import type { Task, TaskOutcome } from '../../jobs/task.ts';
import type { Operation } from '../../telemetry/recorder.ts';
import type { Call, ClientName } from '../../tools/call.ts';
import type { ProtocolEra } from '../protocol-versions.ts';
import type { Watch } from '../sessions/watches.ts';
import type { Ask, ElicitationRequest } from './elicitation.ts';
import type { LinksTo } from './resource-links.ts';

export type Params = Record<string, unknown>;

/** A request, in a form independent of the protocol revision. */
export interface IncomingRequest extends ElicitationRequest {
  readonly id: string | number;
  /** Facts for metrics and traces. */
  readonly attributes: Pick<Operation, 'transport' | 'revision' | 'sessionId' | 'requestId'>;
  readonly meta: Params | undefined;
  readonly client: ClientName;
  /** The client's declared capabilities. */
  readonly capabilities: unknown;
  /** Sends a notification while the request runs. */
  notify(method: string, params: Params): void;
  /** Lets the client cancel by request id even after the answer. Returns a function that ends this. */
  keepCancellable?(cancel: () => void): () => void;
  /** Closes the connection, but not the request: the client reconnects for the answer. */
  hangUp?(): void;
}

/** A call whose work may continue after the answer. */
export interface IncomingCall extends Call {
  readonly era?: ProtocolEra;
  keepCancellable(cancel: () => void): () => void;
  /** Absent if the client can't ask its user. */
  ask?: Ask;
  /** Absent if the client doesn't support tasks. */
  tasks?: TaskFactory;
  /** Since 2026-07-28: the client's answers to questions. */
  inputResponses?: Params | undefined;
  /** Opens this client's subscriptions. */
  watch?(): Watch;
  /** Creates resource links. Absent if the client gets none. */
  linksTo?: LinksTo;
}

/** Creates tasks for one client's calls. */
export interface TaskFactory {
  /** Creates a task. Returns undefined if no more can be stored now. */
  start(tool: string, cancel: () => void, work: string | undefined): Promise<Task | undefined>;
  /** Converts the call's result or failure to the task's outcome. */
  render(tool: string, outcome: { result: object } | { failure: unknown }): TaskOutcome;
}

const clientNameUnitsMax = 100;

/** Reads the client's name and version, shortened. */
export function clientName(info: unknown): ClientName {
  const { name, version } = isObject(info) ? info : {};
  const short = (text: unknown) => (typeof text === 'string' ? text.slice(0, clientNameUnitsMax) : '');
  return { name: short(name) || 'unknown', version: short(version) };
}
