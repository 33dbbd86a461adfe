import { workerData } from 'node:worker_threads';
import { CarrelError } from '../../src/base/errors.ts';
import { answerCalls } from '../../src/base/workers/answer-calls.ts';
import { pause } from './pause.ts';

export type TestRequest =
  /** Yields to the event loop between steps. */
  | { readonly kind: 'steps'; readonly name: string; readonly count: number }
  | { readonly kind: 'fail' }
  | { readonly kind: 'die' }
  | { readonly kind: 'never' }
  /** Answers after an idle wait. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** Computes forever. */
  | { readonly kind: 'spin' }
  | { readonly kind: 'bytes' };

const steps: string[] = [];

/** A thread for tests of worker calls. */
answerCalls<TestRequest, unknown>(() => {
  if (workerData === 'refuse') throw new CarrelError('invalid_config', 'Invalid test settings.');
  const bytes = new Uint8Array(8);
  return {
    async perform(request) {
      switch (request.kind) {
        case 'steps':
          for (let step = 1; step <= request.count; step += 1) {
            steps.push(`${request.name}${step}`);
            await new Promise((resolve) => setImmediate(resolve));
          }
          return [...steps];
        case 'fail':
          throw new CarrelError('rate_limit_exceeded', 'Rate limit exceeded.', {
            data: { limit: 1 },
            retryAfterSeconds: 7,
            cause: new Error('inner'),
          });
        case 'die':
          return process.exit(3);
        case 'never':
          return new Promise(() => {});
        case 'wait':
          return pause(request.ms);
        case 'spin':
          for (;;) steps.length = 0;
        case 'bytes':
          return bytes.byteLength === 0 ? 'gone' : bytes;
      }
    },
    transfer: (_request, answer) => (answer === bytes ? [bytes.buffer] : []),
  };
});
