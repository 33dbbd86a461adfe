import { randomBytes } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { SharedStore } from '../../base/shared-store.ts';
import { type CallCounter, createSharedWindow } from '../../base/shared-window.ts';
import { isSigned, sign } from '../../base/signing-key.ts';
import { createSlidingWindow } from '../../base/sliding-window.ts';
import type { Answers, Question, Questions } from '../../tools/question.ts';
import { rpcCodes } from '../wire-errors.ts';

/** Asks the user through the client. Undefined if that turns out to be impossible; a refusal is thrown. */
export type Ask = (questions: Questions) => Promise<Answers | undefined>;

/** The request during which the user is asked. */
export interface AskingRequest {
  readonly signal: AbortSignal;
  /** Up to 2025-11-25: a request to the client, such as to show a form. Resolves with its result. */
  send(method: string, params: Record<string, unknown>, timeoutMs: number): Promise<unknown>;
  /** From 2026-07-28 on: what came with a call that is sent again. */
  readonly inputResponses?: Record<string, unknown> | undefined;
  readonly requestState?: unknown;
}

/** A call of 2026-07-28 must be sent again with the answers: servers send no requests there. */
export class InputRequired extends Error {
  override readonly name = 'InputRequired';
  readonly result: object;

  constructor(questions: Questions, requestState: string) {
    super('The user must be asked first.');
    this.result = { resultType: 'input_required', inputRequests: toInputRequests(questions), requestState };
  }
}

/** How long a question stays open unless told. The client holds a request meanwhile, and no place is taken here. */
const answerMsDefault = 600_000;

/** Whether a client that declares these capabilities can show a form to its user. */
export function canAsk(capabilities: unknown): boolean {
  const elicitation = isObject(capabilities) ? capabilities['elicitation'] : undefined;
  // Before there was another kind of question than forms, an empty object stood for them.
  return isObject(elicitation) && ('form' in elicitation || Object.keys(elicitation).length === 0);
}

/** Up to 2025-11-25: a request to the client, while its own call waits. */
export function askWithinCall(request: AskingRequest, answerMs = answerMsDefault): Ask {
  return async (questions) => {
    const responses: Record<string, unknown> = {};
    for (const [name, question] of Object.entries(questions)) {
      try {
        const form = { message: question.message, requestedSchema: schemaOf(question) };
        responses[name] = await request.send('elicitation/create', form, answerMs);
      } catch (error) {
        if (request.signal.aborted) throw new CarrelError('cancelled', 'The call was cancelled.', { cause: error });
        if (error instanceof Error && 'code' in error && error.code === rpcCodes.methodNotFound) return undefined;
        throw new CarrelError('not_confirmed', `The user was asked, but there is no usable answer. ${nothingDone}`, {
          cause: error,
        });
      }
      // A refusal ends the questions.
      readAnswers({ [name]: question }, responses);
    }
    return readAnswers(questions, responses);
  };
}

/**
 * From 2026-07-28 on: the call is answered with the questions and comes again with the answers. The state that comes with
 * them shows that this caller was asked exactly this about exactly this call, so an answer fits no other.
 */
export function askBetweenCalls(
  request: AskingRequest,
  owner: string,
  params: Record<string, unknown>,
  answered: CallCounter,
): Ask {
  return async (questions) => {
    const about = JSON.stringify([owner, params['name'], params['arguments'], questions]);
    const { inputResponses, requestState } = request;
    const isAnswer = inputResponses !== undefined && wasAsked(about, requestState);
    // Sent again, it would be a second yes to what was asked once.
    if (!isAnswer || !(await answered.take(String(requestState))).ok) throw new InputRequired(questions, issue(about));
    return readAnswers(questions, inputResponses);
  };
}

const stateLastsMs = 3_600_000;

/** Counts answers, each of which is accepted once. In all processes on one database, if they share a store. */
export function createAnswered(shared: SharedStore | undefined): CallCounter {
  const once = { limit: 1, windowMs: 2 * stateLastsMs };
  return shared === undefined ? createSlidingWindow(once) : createSharedWindow(shared, 'answer', once);
}

function issue(
  about: string,
  at: string = `${Date.now().toString(36)}.${randomBytes(9).toString('base64url')}`,
): string {
  return `${at}-${sign('question', `${at} ${about}`).toString('base64url')}`;
}

function wasAsked(about: string, state: unknown): boolean {
  const at = typeof state === 'string' ? (/^([0-9a-z]{1,12}\.[\w-]{12})-/.exec(state)?.[1] ?? '') : '';
  const isOurs = isSigned(Buffer.from(String(state)), Buffer.from(issue(about, at)));
  return isOurs && Date.now() - Number.parseInt(at, 36) < stateLastsMs;
}

/** In the form in which a result or a task carries them. */
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

function schemaOf({ fields }: Question): {
  type: 'object';
  properties: Record<string, { type: 'string' | 'boolean'; title: string }>;
  required: string[];
} {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field }])),
    required: Object.keys(fields),
  };
}

const nothingDone = 'Nothing was changed.';

/** What the user filled in; anything but an accepted form with every field is a refusal. */
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
        throw new CarrelError(
          'not_confirmed',
          `The client's answer to the question does not have the form that was asked for. ${nothingDone}`,
        );
      }
      return [name, Object.fromEntries(filled) as Record<string, boolean | string>];
    }),
  );
}
