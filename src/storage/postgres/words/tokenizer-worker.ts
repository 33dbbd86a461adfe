import { answerCalls } from '../../../base/workers/answer-calls.ts';
import { useLanguage } from '../../../words/language.ts';
import { termRowsOf } from './term-rows.ts';
import type { TokenizeRequest } from './tokenizer.ts';

/** Entry point of the thread that tokenizer.ts starts. */
answerCalls(() => ({
  async perform({ language, texts }: TokenizeRequest) {
    await useLanguage(language);
    return termRowsOf(texts);
  },
}));
