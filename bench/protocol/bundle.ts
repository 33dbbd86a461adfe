import { rmSync } from 'node:fs';
import { build } from 'esbuild';
import { bundleOptions, productOptions } from '../../scripts/bundle-options.ts';

/** Bundles each server separately, so that none contains another's code. Returns a function that names a server's file. */
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
