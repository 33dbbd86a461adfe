import type { Storage } from '../../storage/storage.ts';
import { type ModelState, type VectorCorpus, vectorCorpora } from '../../storage/vectors/vector.ts';

/** How far each model has embedded a corpus, for `carrel doctor` and the status. */
export interface CorpusEmbeddings {
  readonly corpus: VectorCorpus;
  /** Models with vectors, the newest last. */
  readonly models: readonly ModelState[];
  /** Set while one model replaces another. */
  readonly change: { readonly from: string; readonly to: string; readonly waiting: number } | undefined;
}

export async function embeddingState(storage: Pick<Storage, 'vectors'>): Promise<CorpusEmbeddings[]> {
  return Promise.all(
    vectorCorpora.map(async (corpus) => {
      const models = await storage.vectors[corpus].models();
      const newest = models.at(-1);
      const previous = models.findLast(({ vectors }, index) => index < models.length - 1 && vectors > 0);
      const change =
        newest === undefined || previous === undefined
          ? undefined
          : { from: previous.model, to: newest.model, waiting: newest.pending };
      return { corpus, models, change };
    }),
  );
}
