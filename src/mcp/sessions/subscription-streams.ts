import { isObject } from '../../base/json.ts';
import type { Caller } from '../../tools/call.ts';
import { errorAnswer, type WireId } from '../messages/messages.ts';
import { metaKeys } from '../protocol-versions.ts';
import { supportsTasks } from '../tasks/task-methods.ts';
import { missingTasks, rpcCodes } from '../wire-errors.ts';
import { type Watches, watchedMax } from './watches.ts';

/** A `subscriptions/listen` request of 2026-07-28, which opens a stream of change notifications. */
export interface SubscriptionRequest {
  id: WireId;
  params: Record<string, unknown>;
  caller: Caller;
  send(message: object): void;
  /** Called when nothing more will be sent. */
  end(): void;
}

export interface SubscriptionStream {
  /** Ends the stream without a result, because the client disconnected. */
  drop(): void;
  /** Ends the stream with a final result. */
  finish(): void;
}

export interface SubscriptionStreams {
  /** Opens a stream. Returns it after its first message was sent, or returns an error answer. */
  open(request: SubscriptionRequest): Promise<{ refusal: object } | { subscription: SubscriptionStream }>;
  close(): void;
}

const streamsMax = 500;
const perCallerMax = 20;

/** Creates Carrel's own `subscriptions/listen`: the SDK's supports neither tasks nor restricted callers. */
export function createSubscriptionStreams(watches: Watches): SubscriptionStreams {
  const open = new Map<SubscriptionStream, string>();

  return {
    async open({ id, params, caller, send, end }) {
      const requested = readSubscriptions(params);
      if (typeof requested === 'string') return { refusal: errorAnswer(id, rpcCodes.invalidParams, requested) };
      if (requested.taskIds.length > 0 && !supportsTasks(metaOf(params)[metaKeys.capabilities])) {
        const { code, message, data } = missingTasks();
        return { refusal: errorAnswer(id, code, message, data) };
      }
      const ownStreams = [...open.values()].filter((each) => each === caller.owner);
      if (open.size >= streamsMax || ownStreams.length >= perCallerMax) {
        const problem = 'Too many subscriptions are open. Close one, or try again later.';
        return { refusal: errorAnswer(id, rpcCodes.retryable, problem) };
      }
      const _meta = { [metaKeys.subscription]: id.value };
      const pending: object[] = [];
      let isAcknowledged = false;
      // Changes before the acknowledgement are sent after it.
      const watch = watches.open(caller, (method, details = {}) => {
        const message = { jsonrpc: '2.0', method, params: { ...details, _meta } };
        if (isAcknowledged) send(message);
        else pending.push(message);
      });
      const drop = (): void => {
        open.delete(subscription);
        watch.close();
      };
      const finish = (): void => {
        if (!open.has(subscription)) return;
        drop();
        send({ jsonrpc: '2.0', id: id.value, result: { resultType: 'complete', _meta } });
        end();
      };
      const subscription: SubscriptionStream = { drop, finish };
      open.set(subscription, caller.owner);

      const notifications: Record<string, unknown> = {};
      if (requested.list && (await watch.watchList())) notifications['resourcesListChanged'] = true;
      const uris = await filterAsync(requested.uris, (uri) => watch.watchResource(uri));
      if (uris.length > 0) notifications['resourceSubscriptions'] = uris;
      const taskIds = await filterAsync(
        requested.taskIds,
        async (taskId) => (await watch.watchTask(taskId)) !== undefined,
      );
      if (taskIds.length > 0) notifications['taskIds'] = taskIds;
      send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta } });
      isAcknowledged = true;
      for (const message of pending) send(message);
      if (Object.keys(notifications).length === 0) finish();
      return { subscription };
    },
    close() {
      for (const subscription of [...open.keys()]) subscription.finish();
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

/** Reads the requested subscriptions. Returns an error message if they are invalid. */
function readSubscriptions({ notifications }: Record<string, unknown>): Subscriptions | string {
  if (!isObject(notifications)) return 'Invalid params: notifications must be an object.';
  const { resourcesListChanged, resourceSubscriptions: uris = [], taskIds = [] } = notifications;
  if (!areTexts(uris)) return `Invalid params: resourceSubscriptions must be at most ${watchedMax} URIs.`;
  if (!areTexts(taskIds)) return `Invalid params: taskIds must be at most ${watchedMax} ids.`;
  return { list: resourcesListChanged === true, uris: [...new Set(uris)], taskIds: [...new Set(taskIds)] };
}

const textUnitsMax = 8_192;

function areTexts(value: unknown): value is string[] {
  const isText = (item: unknown): boolean => typeof item === 'string' && item.length <= textUnitsMax;
  return Array.isArray(value) && value.length <= watchedMax && value.every(isText);
}

function metaOf({ _meta: meta }: Record<string, unknown>): Record<string, unknown> {
  return isObject(meta) ? meta : {};
}
