import { rmSync } from 'node:fs';
import { build } from 'esbuild';
import { bundleOptions, productOptions } from '../../scripts/bundle-options.ts';

/** Bundles each baseline separately, so that none carries another's code; returns the file to start. */
export async function bundlePeers<Name extends string>(names: readonly Name[]): Promise<(name: Name) => string> {
  const folder = new URL('./dist/', import.meta.url).pathname;
  rmSync(folder, { recursive: true, force: true });
  await Promise.all(
    names.map((name) =>
      build({
        ...(name === 'carrel' ? productOptions : bundleOptions),
        entryPoints: [new URL(`./peers/${name}.ts`, import.meta.url).pathname],
        outdir: `${folder}${name}`,
      }),
    ),
  );
  return (name) => `${folder}${name}/${name}.js`;
}
