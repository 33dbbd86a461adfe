import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { packageFile } from '../../base/program-files.ts';
import type { Calibration } from '../rank/relevance.ts';

export function bundledRerankerFolder(): string {
  return fileURLToPath(packageFile('models/reranker-int8'));
}

/** Matches a question mark. The model reads the previous message only if it contains one. Other messages made results worse. */
const questionMark = /[?\uFF1F\u061F]/;

const feature = z.enum(['logit', 'doubt', 'lead', 'words', 'cosine', 'length']);
const logistic = z.object({ intercept: z.number(), weights: z.array(z.number()) });
const regressionSchema = logistic.extend({
  features: z.array(feature),
  onTopic: logistic.optional(),
  onTopicMin: z.number(),
});
const settingsSchema = z.object({
  /** Max tokens of the query. */
  questionPieces: z.int().min(1).default(64),
  /** Max tokens of a passage. */
  passagePieces: z.int().min(1).default(256),
  /** The tokenizer's folder, relative to the model's. */
  tokenizer: z.string().min(1).default('.'),
  /** Weight of the model's logit in the order of the results. */
  weight: z.number().default(0.1),
  /** The previous message is read only if both have at most `charsMax` characters, and only its last `charsRead`. */
  before: z.object({ charsMax: z.int().min(1), charsRead: z.int().min(1), separator: z.string() }).optional(),
  calibration: z.object({ fits: z.array(regressionSchema).min(1) }).optional(),
});

/** Reads a reranking model's settings from model.json in its folder. */
export function readRerankerSettings(folder: string) {
  const settings = settingsSchema.parse(readModelFile(folder));
  const { questionPieces, passagePieces, tokenizer, weight, before, calibration } = settings;
  return {
    queryTokensMax: questionPieces,
    passageTokensMax: passagePieces,
    tokenizerFolder: join(folder, tokenizer),
    weight,
    /** Undefined if the model was not trained on passages prefixed with the preceding question. */
    questionContext: before && {
      charsMax: before.charsMax,
      prefixFor(text: string) {
        const read = text.slice(-before.charsRead);
        return questionMark.test(read) ? read + before.separator : undefined;
      },
    },
    /** Undefined for an uncalibrated model. */
    calibration: calibration?.fits as Calibration | undefined,
  };
}

/** Reads model.json. Models without that file get the defaults. */
function readModelFile(folder: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new CarrelError(
      'invalid_config',
      `model.json in ${folder} can't be read. Reinstall Carrel, or check RERANKING_MODEL.`,
      { cause: error },
    );
  }
}
