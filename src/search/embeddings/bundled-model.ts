import { fileURLToPath } from 'node:url';

export const bundledModelName = 'gte-small-int8';

/** The model that comes with the package: beside dist/ when built, at the root of the checkout otherwise. */
export function bundledModelFolder(): string {
  const root = import.meta.url.endsWith('.ts') ? '../../../' : '../';
  return fileURLToPath(new URL(`${root}models/${bundledModelName}`, import.meta.url));
}

/**
 * How far below the best a cosine still tells something apart, by the name of the model that made the vectors; undefined
 * where nobody has measured it. Models differ in how far apart they put texts.
 */
export function cosineSpanOf(model: string): number | undefined {
  return model === `local:${bundledModelName}` ? 0.25 : undefined;
}
