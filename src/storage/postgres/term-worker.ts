import { answerCalls } from '../../base/workers/answer-calls.ts';
import { useLanguage } from '../../words/language.ts';
import { termRowsOf } from './term-rows.ts';
import type { CutRequest } from './text-cutter.ts';

/** The thread behind text-cutter.ts. */
answerCalls(() => ({
  async perform({ language, texts }: CutRequest) {
    await useLanguage(language);
    return termRowsOf(texts);
  },
}));
