import { CarrelError } from '../base/errors.ts';

export type TaskQuestions = ReturnType<typeof createTaskQuestions>;

/** Asks a task's client questions and waits up to `answerMs` for each. Calls `onChange` when questions open or close. */
export function createTaskQuestions({ answerMs, onChange }: { answerMs: number; onChange(): void }) {
  const questions = new Map<string, { request: object; answer(value: unknown): void }>();
  let count = 0;
  let rejectPending: ((error: CarrelError) => void) | undefined;
  return {
    /** Returns the unanswered questions, by key. */
    open: (): Record<string, object> => Object.fromEntries([...questions].map(([key, { request }]) => [key, request])),
    /** Asks questions. Resolves with all answers, by question name. */
    async ask(requests: Readonly<Record<string, object>>): Promise<Record<string, unknown>> {
      const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
      const answers: Record<string, unknown> = {};
      const timer = setTimeout(
        () => reject(new CarrelError('not_confirmed', 'Nobody answered the question in time. Nothing was done.')),
        answerMs,
      ).unref();
      for (const [name, request] of Object.entries(requests)) {
        // A key is never reused within a task.
        count += 1;
        questions.set(`${name}-${count}`, {
          request,
          answer(value) {
            answers[name] = value;
            if (Object.keys(answers).length === Object.keys(requests).length) resolve(answers);
          },
        });
      }
      rejectPending = reject;
      onChange();
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        questions.clear();
        onChange();
      }
    },
    answer(answers: Readonly<Record<string, unknown>>): void {
      for (const [key, value] of Object.entries(answers)) {
        const question = questions.get(key);
        questions.delete(key);
        question?.answer(value);
      }
      onChange();
    },
    /** Fails the pending `ask`. */
    reject: (error: CarrelError): void => rejectPending?.(error),
  };
}
