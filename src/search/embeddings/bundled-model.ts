import { fileURLToPath } from 'node:url';
import { packageFile } from '../../base/places.ts';

export const bundledModelName = 'gte-small-int8';

/** The model that comes with the package. */
export function bundledModelFolder(): string {
  return fileURLToPath(packageFile(`models/${bundledModelName}`));
}
