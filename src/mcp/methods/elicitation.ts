import { randomBytes } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { SharedStore } from '../../base/shared-store.ts';
import { type CallCounter, createSharedWindow } from '../../base/shared-window.ts';
import { isSigned, sign } from '../../base/signing-key.ts';
import { createSlidingWindow } from '../../base/sliding-window.ts';
import type { Answers, Question, Questions } from '../../tools/question.ts';
import { rpcCodes } from '../wire-errors.ts';

/** Asks the user through the client. Resolves with undefined if the client can't ask. Throws if the user declines. */
export type Ask = (questions: Questions) => Promise<Answers | undefined>;

/** The request during which the user is asked. */
export interface ElicitationRequest {
  readonly signal: AbortSignal;
  /** MCP revisions up to 2025-11-25: sends a request to the client, such as showing a form, and resolves with its result. */
  send(method: string, params: Record<string, unknown>, timeoutMs: number): Promise<unknown>;
  /** Since MCP revision 2026-07-28: the answers in a repeated call. */
  readonly inputResponses?: Record<string, unknown> | undefined;
  readonly requestState?: unknown;
}

/** Thrown to ask the user under MCP revision 2026-07-28, in which the client repeats the call with the answers. */
export class InputRequired extends Error {
  override readonly name = 'InputRequired';
  readonly result: object;

  constructor(questions: Questions, requestState: string) {
    super('The user must be asked first.');
    this.result = { resultType: 'input_required', inputRequests: toInputRequests(questions), requestState };
  }
}

/** Default timeout for the user's answer. The client's request stays open, but does not count as running. */
const answerMsDefault = 600_000;

/** True if a client with these capabilities can show forms. */
export function canAsk(capabilities: unknown): boolean {
  const elicitation = isObject(capabilities) ? capabilities['elicitation'] : undefined;
  // In older revisions, an empty object means forms, the only kind of question.
  return isObject(elicitation) && ('form' in elicitation || Object.keys(elicitation).length === 0);
}

/** MCP revisions up to 2025-11-25: asks the client while its call waits. */
export function askWithinCall(request: ElicitationRequest, answerMs = answerMsDefault): Ask {
  return async (questions) => {
    const responses: Record<string, unknown> = {};
    for (const [name, question] of Object.entries(questions)) {
      try {
        const form = { message: question.message, requestedSchema: schemaOf(question) };
        responses[name] = await request.send('elicitation/create', form, answerMs);
      } catch (error) {
        if (request.signal.aborted) throw new CarrelError('cancelled', 'The call was cancelled.', { cause: error });
        if (error instanceof Error && 'code' in error && error.code === rpcCodes.methodNotFound) return undefined;
        const message = `The user was asked, but gave no usable answer. ${nothingDone}`;
        throw new CarrelError('not_confirmed', message, { cause: error });
      }
      // Throws if the user declined, so that no further question is asked.
      readAnswers({ [name]: question }, responses);
    }
    return readAnswers(questions, responses);
  };
}

/**
 * Since MCP revision 2026-07-28: answers the call with questions; the client repeats it with answers. The signed state makes
 * sure that the answers belong to this caller, call and question.
 */
export function askBetweenCalls(
  request: ElicitationRequest,
  owner: string,
  params: Record<string, unknown>,
  usedAnswers: CallCounter,
): Ask {
  return async (questions) => {
    const subject = JSON.stringify([owner, params['name'], params['arguments'], questions]);
    const { inputResponses, requestState } = request;
    const isAnswer = inputResponses !== undefined && isSignedState(subject, requestState);
    // Each answer is valid once: a repeated one would confirm a second change.
    if (!isAnswer || !(await usedAnswers.take(String(requestState))).ok)
      throw new InputRequired(questions, signState(subject));
    return readAnswers(questions, inputResponses);
  };
}

const stateLifetimeMs = 3_600_000;

/** Accepts each answer once, across all processes that share a store. */
export function createUsedAnswers(shared: SharedStore | undefined): CallCounter {
  const once = { limit: 1, windowMs: 2 * stateLifetimeMs };
  return shared === undefined ? createSlidingWindow(once) : createSharedWindow(shared, 'answer', once);
}

function signState(
  subject: string,
  stamp: string = `${Date.now().toString(36)}.${randomBytes(9).toString('base64url')}`,
): string {
  return `${stamp}-${sign('question', `${stamp} ${subject}`).toString('base64url')}`;
}

function isSignedState(subject: string, state: unknown): boolean {
  const stamp = typeof state === 'string' ? (/^([0-9a-z]{1,12}\.[\w-]{12})-/.exec(state)?.[1] ?? '') : '';
  const isOurs = isSigned(Buffer.from(String(state)), Buffer.from(signState(subject, stamp)));
  return isOurs && Date.now() - Number.parseInt(stamp, 36) < stateLifetimeMs;
}

/** Converts questions to the form they have in a result or task. */
export function toInputRequests(questions: Questions): Record<string, object> {
  return Object.fromEntries(
    Object.entries(questions).map(([name, question]) => [
      name,
      {
        method: 'elicitation/create',
        params: { mode: 'form', message: question.message, requestedSchema: schemaOf(question) },
      },
    ]),
  );
}

function schemaOf({ fields }: Question) {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field }])),
    required: Object.keys(fields),
  };
}

const nothingDone = 'Nothing was changed.';

/** Reads the user's input. Throws unless the form was accepted and complete. */
export function readAnswers(questions: Questions, responses: Readonly<Record<string, unknown>>): Answers {
  return Object.fromEntries(
    Object.entries(questions).map(([name, { fields }]) => {
      const response = Object.hasOwn(responses, name) ? responses[name] : undefined;
      const { action, content } = isObject(response) ? response : {};
      if (action === 'decline') throw new CarrelError('not_confirmed', `The user declined. ${nothingDone}`);
      if (action === 'cancel') {
        throw new CarrelError('not_confirmed', `The user closed the question without an answer. ${nothingDone}`);
      }
      const filled = Object.keys(fields).map(
        (field) => [field, isObject(content) ? content[field] : undefined] as const,
      );
      if (action !== 'accept' || filled.some(([field, value]) => typeof value !== fields[field]?.type)) {
        throw new CarrelError('not_confirmed', `The client's answer does not match the requested form. ${nothingDone}`);
      }
      return [name, Object.fromEntries(filled) as Record<string, boolean | string>];
    }),
  );
}
