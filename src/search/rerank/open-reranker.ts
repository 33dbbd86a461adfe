import { CarrelError } from '../../base/errors.ts';
import type { SliceValues } from '../../config/field.ts';
import { modelThreadsOf } from '../models/model-threads.ts';
import type { Calibration } from '../rank/relevance.ts';
import { bundledRerankerFolder, readRerankerSettings } from './bundled-reranker.ts';
import { createHttpReranking } from './http-reranking.ts';
import { createLocalReranking } from './local-reranking.ts';
import { createReranker, type OnReranked, type Reranker } from './reranker.ts';
import type { rerankingSlice } from './reranking-slice.ts';

export type RerankingSettings = SliceValues<typeof rerankingSlice>;

/** Min timeout for a reranking server, which may be far away. */
const serverTimeoutMs = 2_000;

/** Relevance below which a hit is weak, for models without their own calibration. */
const uncalibratedThreshold = 0.05;

/** Creates the configured reranker, but starts nothing: the first search loads the model or calls the server. */
export function openReranker(settings: RerankingSettings, onReranked?: OnReranked): Reranker {
  if (!reranks(settings)) return rerankerWithoutModel();
  const bundled = readRerankerSettings(bundledRerankerFolder());
  const { weight, calibration = [] } = bundled;
  if (settings.provider === 'http') {
    const provider = createHttpReranking({
      url: serverUrlOf(settings),
      model: settings.model,
      apiKey: settings.apiKey?.reveal(),
      timeoutMs: Math.max(serverTimeoutMs, settings.budgetMs),
      attemptsMax: 2,
      concurrencyMax: 4,
    });
    return createReranker({ provider, weight, calibration: defaultCalibration(calibration), onReranked });
  }
  const own = settings.model === undefined ? bundled : readRerankerSettings(settings.model);
  const provider = createLocalReranking({
    modelFolder: settings.model ?? bundledRerankerFolder(),
    cores: modelThreadsOf(settings.threads),
    queuedPairsMax: 5_000,
    pairTimeoutMs: 30_000,
    budgetMs: settings.budgetMs,
    queryTokensMax: own.queryTokensMax,
    passageTokensMax: own.passageTokensMax,
    tokenizerFolder: own.tokenizerFolder,
  });
  return createReranker({
    provider,
    weight: own.weight,
    questionContext: own.questionContext,
    calibration: own.calibration ?? defaultCalibration(calibration),
    onReranked,
  });
}

/** Creates a reranker without a model: it rates hits by words and vectors only. */
export function rerankerWithoutModel(): Reranker {
  const { weight, calibration = [] } = readRerankerSettings(bundledRerankerFolder());
  return createReranker({ provider: undefined, weight, calibration });
}

export function reranks({ enabled, provider }: RerankingSettings): boolean {
  return enabled !== 'false' && provider !== 'none';
}

/**
 * Returns the calibration for models that have none: relevance is the sigmoid of the logit. Hits without a logit use the bundled
 * calibration.
 */
function defaultCalibration(calibration: Calibration): Calibration {
  // `doubt` is derived from the logit.
  const withoutReranking = calibration.filter(({ features }) => !features.includes('doubt'));
  return [{ features: ['logit'], intercept: 0, weights: [1], onTopicMin: uncalibratedThreshold }, ...withoutReranking];
}

function serverUrlOf({ url }: RerankingSettings): string {
  if (url !== undefined) return url;
  throw new CarrelError('invalid_config', 'RERANKING_PROVIDER=http needs RERANKING_URL, the address of the server.');
}
