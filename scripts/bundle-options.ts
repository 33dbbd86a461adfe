import type { BuildOptions } from 'esbuild';

/** How everything that ships is bundled; the benchmarks bundle what they compare with in the same way. */
export const bundleOptions = {
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  // Bundled CommonJS packages call require() for Node's own modules, which an ES module does not have.
  banner: {
    js: "import { createRequire as carrelRequire } from 'node:module'; const require = carrelRequire(import.meta.url);",
  },
  logLevel: 'warning',
} as const satisfies BuildOptions;
