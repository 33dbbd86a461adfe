import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';

/**
 * An import statement reads every export of a Node module once. Those of node:http include the WebSocket of Node's fetch
 * implementation, which is then loaded whole: 40 ms. require() reads nothing that is not used.
 */
const leanHttp: Plugin = {
  name: 'lean-http',
  setup(build) {
    build.onResolve({ filter: /^node:https?$/ }, ({ path, namespace }) =>
      namespace === 'lean-http' ? { path, external: true } : { path, namespace: 'lean-http' },
    );
    build.onLoad({ filter: /./, namespace: 'lean-http' }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
  },
};

/** How everything here is bundled, also what the benchmarks compare with. */
export const bundleOptions = {
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.16',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  // Bundled CommonJS packages call require() for Node's own modules, which an ES module does not have.
  banner: {
    js: "import { createRequire as carrelRequire } from 'node:module'; const require = carrelRequire(import.meta.url);",
  },
  plugins: [leanHttp],
  logLevel: 'warning',
} satisfies BuildOptions;

/** The same for the program itself. */
export const productOptions = {
  ...bundleOptions,
  alias: { '@modelcontextprotocol/server/_shims': fileURLToPath(new URL('./sdk-shims.ts', import.meta.url)) },
} satisfies BuildOptions;
