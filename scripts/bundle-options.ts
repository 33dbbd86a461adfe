import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';

/**
 * Makes imports of a Node module read only the exports that are used. A plain import statement reads every export, and some are
 * expensive: one export of node:http loads all of Node's fetch, and one of node:crypto loads Web Crypto.
 */
const leanBuiltins: Plugin = {
  name: 'lean-builtins',
  setup(build) {
    const filter = new RegExp(`^(?:node:)?(?:${builtinModules.join('|')})$`);
    build.onResolve({ filter }, ({ path, kind }) =>
      kind === 'import-statement' && path !== 'node:module'
        ? { path: path.replace(/^node:/, ''), namespace: 'lean-builtins' }
        : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'lean-builtins' }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter((name) => name !== 'default');
      return {
        contents: [
          `const builtin = process.getBuiltinModule('node:${path}');`,
          'export default builtin;',
          ...names.map((name) => `export const ${name} = /* @__PURE__ */ (() => builtin.${name})();`),
        ].join('\n'),
      };
    });
  },
};

/** Options of every bundle, including the baselines of the benchmarks. */
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
  plugins: [leanBuiltins],
  logLevel: 'warning',
} satisfies BuildOptions;

/** Options of the program's own bundle. */
export const productOptions = {
  ...bundleOptions,
  alias: {
    '@modelcontextprotocol/server/_shims': fileURLToPath(new URL('./sdk-shims.ts', import.meta.url)),
    // esbuild would otherwise choose the CommonJS builds of these packages, whose exports it can't see.
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
    yaml: fileURLToPath(new URL('../node_modules/yaml/browser/index.js', import.meta.url)),
  },
} satisfies BuildOptions;
