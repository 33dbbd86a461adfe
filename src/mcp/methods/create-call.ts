import type { Caller, Progress } from '../../tools/call.ts';
import type { Offer } from '../offer.ts';
import { type Era, knowsResourceLinks } from '../protocol-versions.ts';
import type { Watch } from '../sessions/watches.ts';
import { createTaskFactory, takesTasks } from '../tasks/task-methods.ts';
import { askBetweenCalls, askWithinCall, canAsk } from './asking.ts';
import { askForRoots, namesRoots } from './client-roots.ts';
import type { IncomingCall, IncomingRequest, Params } from './incoming-call.ts';
import { createLinksTo } from './resource-links.ts';

export interface MethodsOptions {
  era: Era;
  caller: Caller;
  /** Opens the client's subscriptions. Absent for clients of 2026-07-28, which use `subscriptions/listen`. */
  watch?(): Watch;
}

export function createCall(
  offer: Offer,
  { caller, era, watch }: MethodsOptions,
  request: IncomingRequest,
  params: Params,
): IncomingCall {
  const token = request.meta?.['progressToken'];
  let reached = Number.NEGATIVE_INFINITY;
  const call: IncomingCall = {
    era,
    caller,
    client: request.client,
    signal: request.signal,
    log: offer.log.with({ request: String(request.id), caller: caller.name }),
    report(progress: Progress) {
      if (token === undefined || progress.progress <= reached) return;
      reached = progress.progress;
      request.notify('notifications/progress', { progressToken: token, ...progress });
    },
    keepCancellable: (cancel) => request.keepCancellable?.(cancel) ?? nothing,
  };
  if (watch) call.watch = watch;
  if (offer.linksResources && knowsResourceLinks(request.about.revision ?? '')) {
    call.linksTo = createLinksTo(offer.resources.mimeTypeOf, offer.answerBytesMax, params['arguments']);
  }
  const asks = canAsk(request.capabilities);
  if (era === 'handshake') {
    if (asks) call.ask = askWithinCall(request, offer.answerMs);
    if (request.about.transport === 'pipe' && namesRoots(request.capabilities)) call.roots = () => askForRoots(request);
    return call;
  }
  call.inputResponses = request.inputResponses;
  if (asks) call.ask = askBetweenCalls(request, caller.owner, params, offer.answered);
  if (offer.tasks && takesTasks(request.capabilities)) {
    call.tasks = createTaskFactory(offer, offer.tasks, caller, call.linksTo);
  }
  return call;
}

const nothing = (): void => {};
