import { CarrelError } from '../base/errors.ts';

/** What a task asks its client. */
export interface TaskQuestions {
  /** Those that nobody has answered, by key. */
  open(): Record<string, object>;
  /** Until all are answered, by the names of the requests. */
  ask(requests: Readonly<Record<string, object>>): Promise<Record<string, unknown>>;
  /** By key. */
  answer(answers: Readonly<Record<string, unknown>>): void;
  /** To whoever waits for answers. */
  refuse(error: CarrelError): void;
}

export interface TaskQuestionsOptions {
  /** How long a question stays open. */
  answerMs: number;
  /** Others are open now. */
  changed(): void;
}

export function createTaskQuestions({ answerMs, changed }: TaskQuestionsOptions): TaskQuestions {
  const questions = new Map<string, { request: object; answer(value: unknown): void }>();
  let asked = 0;
  let refuse: ((error: CarrelError) => void) | undefined;
  return {
    open: () => Object.fromEntries([...questions].map(([key, { request }]) => [key, request])),
    async ask(requests) {
      const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
      const answers: Record<string, unknown> = {};
      const timer = setTimeout(
        () => reject(new CarrelError('not_confirmed', 'Nobody answered the question in time. Nothing was done.')),
        answerMs,
      ).unref();
      for (const [name, request] of Object.entries(requests)) {
        // A key must never stand for another question of the same task.
        asked += 1;
        questions.set(`${name}-${asked}`, {
          request,
          answer(value) {
            answers[name] = value;
            if (Object.keys(answers).length === Object.keys(requests).length) resolve(answers);
          },
        });
      }
      refuse = reject;
      changed();
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        questions.clear();
        changed();
      }
    },
    answer(answers) {
      for (const [key, value] of Object.entries(answers)) {
        const question = questions.get(key);
        questions.delete(key);
        question?.answer(value);
      }
      changed();
    },
    refuse: (error) => refuse?.(error),
  };
}
