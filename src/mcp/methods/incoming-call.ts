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
  /** What the client declares that it can do. */
  readonly capabilities: unknown;
  /** Says something to the client while the request runs. */
  notify(method: string, params: Params): void;
  /** Lets the client cancel by the request's id after the answer; returns a function that ends that. */
  keepCancellable?(cancel: () => void): () => void;
  /** Closes the connection but not the request: the client comes back for the answer. */
  hangUp?(): void;
}

/** A call as the protocol layer holds it: it can outlive its answer. */
export interface IncomingCall extends Call {
  readonly era?: Era;
  keepCancellable(cancel: () => void): () => void;
  /** Absent if the client can't ask its user. */
  ask?: Ask;
  /** Absent if the client takes no tasks. */
  tasks?: TaskFactory;
  /** From 2026-07-28 on: the client's answers to questions. */
  inputResponses?: Params | undefined;
  /** What this client wants to be told of. */
  watch?(): Watch;
  /** Absent if the client gets no links. */
  linksTo?: LinksTo;
}

/** Makes tasks of one client's calls. */
export interface TaskFactory {
  /** Undefined if none can be kept now. */
  start(tool: string, cancel: () => void, work: string | undefined): Promise<Task | undefined>;
  /** What the call would have answered. */
  render(tool: string, outcome: { result: object } | { failure: unknown }): TaskOutcome;
}

const clientNameUnitsMax = 100;

/** What a client says it is, cut to what is worth repeating. */
export function clientName(given: unknown): ClientName {
  const { name, version } = isObject(given) ? given : {};
  const short = (text: unknown) => (typeof text === 'string' ? text.slice(0, clientNameUnitsMax) : '');
  return { name: short(name) || 'unknown', version: short(version) };
}
