import { fileURLToPath } from 'node:url';
import { isObject } from '../../base/json.ts';
import type { Caller, Progress } from '../../tools/call.ts';
import { type ProtocolEra, supportsResourceLinks } from '../protocol-versions.ts';
import type { ServerFeatures } from '../server-features.ts';
import type { Watch } from '../sessions/watches.ts';
import { createTaskFactory, supportsTasks } from '../tasks/task-methods.ts';
import { askBetweenCalls, askWithinCall, canAsk, type ElicitationRequest } from './elicitation.ts';
import type { IncomingCall, IncomingRequest, Params } from './incoming-call.ts';
import { createLinksTo } from './resource-links.ts';

export interface MethodsOptions {
  era: ProtocolEra;
  caller: Caller;
  /** Opens the client's subscriptions. Absent for clients of 2026-07-28, which use `subscriptions/listen`. */
  watch?(): Watch;
}

export function createCall(
  features: ServerFeatures,
  { caller, era, watch }: MethodsOptions,
  request: IncomingRequest,
  params: Params,
): IncomingCall {
  const token = request.meta?.['progressToken'];
  let lastProgress = Number.NEGATIVE_INFINITY;
  const call: IncomingCall = {
    era,
    caller,
    client: request.client,
    signal: request.signal,
    log: features.log.with({ request: String(request.id), caller: caller.name }),
    report(progress: Progress) {
      if (token === undefined || progress.progress <= lastProgress) return;
      lastProgress = progress.progress;
      request.notify('notifications/progress', { progressToken: token, ...progress });
    },
    keepCancellable: (cancel) => request.keepCancellable?.(cancel) ?? (() => {}),
  };
  if (watch) call.watch = watch;
  if (features.linksResources && supportsResourceLinks(request.attributes.revision ?? '')) {
    call.linksTo = createLinksTo(features.resources.mimeTypeOf, features.answerBytesMax, params['arguments']);
  }
  const canAskUser = canAsk(request.capabilities);
  if (era === 'handshake') {
    if (canAskUser) call.ask = askWithinCall(request, features.answerMs);
    if (request.attributes.transport === 'pipe' && canListRoots(request.capabilities))
      call.roots = () => requestRoots(request);
    return call;
  }
  call.inputResponses = request.inputResponses;
  if (canAskUser) call.ask = askBetweenCalls(request, caller.owner, params, features.usedAnswers);
  if (features.tasks && supportsTasks(request.capabilities)) {
    call.tasks = createTaskFactory(features, features.tasks, caller, call.linksTo);
  }
  return call;
}

/** Timeout for the list of roots. Short, because clients know their roots. */
const rootsTimeoutMs = 5_000;
const rootsMax = 100;

/** True if a client with these capabilities can list its roots. */
function canListRoots(capabilities: unknown): boolean {
  return isObject(capabilities) && isObject(capabilities['roots']);
}

/** Requests the client's roots, as paths. Returns none if the client doesn't answer properly. */
async function requestRoots({ send, signal }: Pick<ElicitationRequest, 'send' | 'signal'>): Promise<string[]> {
  const answer = await send('roots/list', {}, rootsTimeoutMs).catch(() => undefined);
  signal.throwIfAborted();
  const roots = isObject(answer) && Array.isArray(answer['roots']) ? answer['roots'] : [];
  return roots.slice(0, rootsMax).flatMap((root) => pathOf(isObject(root) ? root['uri'] : undefined));
}

function pathOf(uri: unknown): string[] {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return [];
  try {
    return [fileURLToPath(uri)];
  } catch {
    return [];
  }
}
