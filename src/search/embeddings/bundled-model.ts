import { fileURLToPath } from 'node:url';
import { packageFile } from '../../base/places.ts';

export const bundledModelName = 'gte-small-int8';

/** The model that comes with the package. */
export function bundledModelFolder(): string {
  return fileURLToPath(packageFile(`models/${bundledModelName}`));
}

/**
 * How far below the best a cosine still tells something apart, by the name of the model that made the vectors; undefined
 * where nobody has measured it. Models differ in how far apart they put texts.
 */
export function cosineSpanOf(model: string): number | undefined {
  return model === `local:${bundledModelName}` ? 0.25 : undefined;
}
