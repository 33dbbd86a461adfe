import { fileURLToPath } from 'node:url';
import { packageFile } from '../../base/program-files.ts';

export const bundledModelName = 'carrel-embedding-1';

/** Returns the folder of the model that comes with the package. */
export function bundledModelFolder(): string {
  return fileURLToPath(packageFile(`models/${bundledModelName}`));
}

/** Returns how far below the best cosine a match counts as 0. Undefined for models that were not measured. */
export function cosineSpanOf(model: string): number | undefined {
  return model === `local:${bundledModelName}` ? 0.25 : undefined;
}
