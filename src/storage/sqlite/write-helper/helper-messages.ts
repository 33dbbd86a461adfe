import type { MessagePort } from 'node:worker_threads';
import type { Language } from '../../../words/language.ts';
import type { PackedTerms, PackedTexts } from './packed-terms.ts';

/** What the helper thread is started with. */
export interface HelperData {
  readonly language: Language;
  /** Read by the one that waits, which has no time for events. */
  readonly replies: MessagePort;
  /** Of the database whose log is to be carried into its file. */
  readonly path: string | undefined;
}

export interface CutCall {
  /** The write that the texts are of. */
  readonly job: number;
  /** Of the chunk, in its job. */
  readonly number: number;
  /** Shared by both threads: who has which chunk of the job. */
  readonly claims: Int32Array;
  readonly texts: PackedTexts;
}

export interface CutReply {
  readonly job: number;
  readonly number: number;
  readonly terms: PackedTerms;
}

/** Sent before it is `done`, so that whoever sees that finds the reply. */
export const claim = { free: 0, helper: 1, done: 2, writer: 3 } as const;
