import { fileURLToPath } from 'node:url';
import { packageFile } from '../../base/places.ts';

export const bundledModelName = 'gte-small-int8';

/** The model that comes with the package. */
export function bundledModelFolder(): string {
  return fileURLToPath(packageFile(`models/${bundledModelName}`));
}

/**
 * Cosines this far below the best count nothing. It depends on how a model spreads cosines, and is undefined for models
 * that nobody has measured.
 */
export function cosineSpanOf(model: string): number | undefined {
  return model === `local:${bundledModelName}` ? 0.25 : undefined;
}
