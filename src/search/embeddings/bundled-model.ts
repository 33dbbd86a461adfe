import { fileURLToPath } from 'node:url';

export const bundledModelName = 'gte-small-int8';

/** The model that comes with the package: beside dist/ when built, at the root of the checkout otherwise. */
export function bundledModelFolder(): string {
  const root = import.meta.url.endsWith('.ts') ? '../../../' : '../';
  return fileURLToPath(new URL(`${root}models/${bundledModelName}`, import.meta.url));
}
