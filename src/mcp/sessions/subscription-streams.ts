import { isObject } from '../../base/json.ts';
import type { Caller } from '../../tools/call.ts';
import { errorAnswer, type WireId } from '../messages/messages.ts';
import { metaKeys } from '../protocol-versions.ts';
import { supportsTasks } from '../tasks/task-methods.ts';
import { missingTasks, rpcCodes } from '../wire-errors.ts';
import { type Watches, watchedMax } from './watches.ts';

/** A `subscriptions/listen` request of 2026-07-28, which opens a stream of change notifications. */
export interface ListenRequest {
  id: WireId;
  params: Record<string, unknown>;
  caller: Caller;
  send(message: object): void;
  /** Called when nothing more will be sent. */
  end(): void;
}

export interface Listening {
  /** Ends the stream without a result, because the client disconnected. */
  drop(): void;
  /** Ends the stream with a final result. */
  finish(): void;
}

export interface Listen {
  /** Opens a stream. Returns it after its first message was sent, or returns an error answer. */
  open(request: ListenRequest): Promise<{ refusal: object } | { listening: Listening }>;
  close(): void;
}

const listensMax = 500;
const perCallerMax = 20;

/** Creates Carrel's own `subscriptions/listen`: the SDK's supports neither tasks nor restricted callers. */
export function createListen(watches: Watches): Listen {
  const open = new Map<Listening, string>();

  return {
    async open({ id, params, caller, send, end }) {
      const subscriptions = readSubscriptions(params);
      if (typeof subscriptions === 'string') return { refusal: errorAnswer(id, rpcCodes.invalidParams, subscriptions) };
      if (subscriptions.taskIds.length > 0 && !supportsTasks(metaOf(params)[metaKeys.capabilities])) {
        const { code, message, data } = missingTasks();
        return { refusal: errorAnswer(id, code, message, data) };
      }
      const ownStreams = [...open.values()].filter((each) => each === caller.owner);
      if (open.size >= listensMax || ownStreams.length >= perCallerMax) {
        const problem = 'Too many subscriptions are open. Close one, or try again later.';
        return { refusal: errorAnswer(id, rpcCodes.retryable, problem) };
      }
      const _meta = { [metaKeys.subscription]: id.value };
      const waiting: object[] = [];
      let acknowledged = false;
      // Changes before the acknowledgement are sent after it.
      const watch = watches.open(caller, (method, more = {}) => {
        const message = { jsonrpc: '2.0', method, params: { ...more, _meta } };
        if (acknowledged) send(message);
        else waiting.push(message);
      });
      const drop = (): void => {
        open.delete(listening);
        watch.close();
      };
      const finish = (): void => {
        if (!open.has(listening)) return;
        drop();
        send({ jsonrpc: '2.0', id: id.value, result: { resultType: 'complete', _meta } });
        end();
      };
      const listening: Listening = { drop, finish };
      open.set(listening, caller.owner);

      const notifications: Record<string, unknown> = {};
      if (subscriptions.list && (await watch.watchList())) notifications['resourcesListChanged'] = true;
      const uris = await filterAsync(subscriptions.uris, (uri) => watch.watchResource(uri));
      if (uris.length > 0) notifications['resourceSubscriptions'] = uris;
      const taskIds = await filterAsync(
        subscriptions.taskIds,
        async (taskId) => (await watch.watchTask(taskId)) !== undefined,
      );
      if (taskIds.length > 0) notifications['taskIds'] = taskIds;
      send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta } });
      acknowledged = true;
      for (const message of waiting) send(message);
      if (Object.keys(notifications).length === 0) finish();
      return { listening };
    },
    close() {
      for (const listening of [...open.keys()]) listening.finish();
    },
  };
}

async function filterAsync(items: readonly string[], keep: (item: string) => Promise<boolean>): Promise<string[]> {
  const accepted: string[] = [];
  for (const item of items) if (await keep(item)) accepted.push(item);
  return accepted;
}

interface Subscriptions {
  list: boolean;
  uris: string[];
  taskIds: string[];
}

/** Reads what the client subscribes to. Returns an error message if it is invalid. */
function readSubscriptions({ notifications }: Record<string, unknown>): Subscriptions | string {
  if (!isObject(notifications)) return 'Invalid params: notifications must be an object.';
  const { resourcesListChanged, resourceSubscriptions: uris = [], taskIds = [] } = notifications;
  if (!isTexts(uris)) return `Invalid params: resourceSubscriptions must be at most ${watchedMax} URIs.`;
  if (!isTexts(taskIds)) return `Invalid params: taskIds must be at most ${watchedMax} ids.`;
  return { list: resourcesListChanged === true, uris: [...new Set(uris)], taskIds: [...new Set(taskIds)] };
}

const textUnitsMax = 8_192;

function isTexts(value: unknown): value is string[] {
  const isText = (item: unknown): boolean => typeof item === 'string' && item.length <= textUnitsMax;
  return Array.isArray(value) && value.length <= watchedMax && value.every(isText);
}

function metaOf({ _meta: meta }: Record<string, unknown>): Record<string, unknown> {
  return isObject(meta) ? meta : {};
}
