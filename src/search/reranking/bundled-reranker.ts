import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { packageFile } from '../../base/places.ts';
import type { Calibration } from '../relevance.ts';

const bundledRerankerName = 'reranker-int8';

/** The cross-encoder that comes with the package. */
export function bundledRerankerFolder(): string {
  return fileURLToPath(packageFile(`models/${bundledRerankerName}`));
}

/** What belongs to a model besides its weights: model.json in its folder. */
export interface RerankerFacts {
  readonly queryPiecesMax: number;
  readonly passagePiecesMax: number;
  /** The folder of its tokenizer. */
  readonly tokenizerFolder: string;
  /** How much a logit counts beside the fused score. */
  readonly weight: number;
  /** Undefined for a model that nobody has calibrated. */
  readonly calibration: Calibration | undefined;
}

const feature = z.enum(['logit', 'words', 'cosine']);
const fitSchema = z.object({
  features: z.array(feature),
  intercept: z.number(),
  weights: z.array(z.number()),
  cut: z.number(),
});
const factsSchema = z.object({
  questionPieces: z.int().min(1).default(64),
  passagePieces: z.int().min(1).default(256),
  tokenizer: z.string().min(1).default('.'),
  weight: z.number().default(0.1),
  calibration: z.object({ fits: z.array(fitSchema).min(1) }).optional(),
});

export function readRerankerFacts(folder: string): RerankerFacts {
  const { questionPieces, passagePieces, tokenizer, weight, calibration } = factsSchema.parse(readFacts(folder));
  return {
    queryPiecesMax: questionPieces,
    passagePiecesMax: passagePieces,
    tokenizerFolder: join(folder, tokenizer),
    weight,
    calibration: calibration?.fits,
  };
}

/** Of a folder with somebody else's model, everything is as usual. */
function readFacts(folder: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new CarrelError('invalid_config', `model.json in ${folder} can't be read.`, { cause: error });
  }
}
