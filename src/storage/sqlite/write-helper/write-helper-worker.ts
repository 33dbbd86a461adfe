import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { documentTermsOf } from '../../../words/document-terms.ts';
import { useLanguage } from '../../../words/language.ts';
import { loadSqlite } from '../sqlite-module.ts';
import { type CutCall, type CutReply, claim, type HelperData } from './helper-messages.ts';
import { packTerms, unpackTexts } from './packed-terms.ts';

/** The thread behind write-helper.ts. */
assert(parentPort !== null, 'runs as a worker only');
const { language, replies, path }: HelperData = workerData;
await useLanguage(language);
let connection: DatabaseSync | undefined;

parentPort.on('message', (call: CutCall | 'checkpoint') => {
  if (call === 'checkpoint') checkpoint();
  else cut(call);
});

function cut({ job, number, claims, texts }: CutCall): void {
  if (Atomics.compareExchange(claims, number, claim.free, claim.helper) !== claim.free) return;
  replies.postMessage({ job, number, terms: packTerms(unpackTexts(texts).map(documentTermsOf)) } satisfies CutReply);
  Atomics.store(claims, number, claim.done);
  Atomics.notify(claims, number);
}

/** As far as nobody reads it. What fails, or is in the hands of another connection, is left to the one that writes. */
function checkpoint(): void {
  if (path === undefined) return;
  try {
    connection ??= new (loadSqlite().DatabaseSync)(path);
    connection.exec('PRAGMA trusted_schema = OFF; PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    connection = undefined;
  }
}
