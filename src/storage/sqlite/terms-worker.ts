import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { documentTermsOf } from '../../words/document-terms.ts';
import { useLanguage } from '../../words/language.ts';
import { packTerms, unpackTexts } from './packed-terms.ts';
import { type CutCall, type CutReply, type CutterData, claim } from './term-messages.ts';

/** A thread that cuts texts into terms for the one that writes; see term-cutter.ts. */
assert(parentPort !== null, 'runs as a worker only');
const { language, replies }: CutterData = workerData;
await useLanguage(language);

parentPort.on('message', ({ job, number, claims, texts }: CutCall) => {
  if (Atomics.compareExchange(claims, number, claim.free, claim.helper) !== claim.free) return;
  replies.postMessage({ job, number, terms: packTerms(unpackTexts(texts).map(documentTermsOf)) } satisfies CutReply);
  Atomics.store(claims, number, claim.done);
  Atomics.notify(claims, number);
});
