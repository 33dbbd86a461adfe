/**
 * Bundles the program into dist/. The entry points and the database worker are one file each, because linking hundreds of modules
 * takes longer than running them. Code that is needed later is in the same file but runs only on demand. The other workers share
 * chunks and load heavy ones on demand.
 */
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { programSlices } from '../src/app/program.ts';
import { roles, serveRole } from '../src/app/roles.ts';
import type { Field } from '../src/config/field.ts';
import { toolsSlice } from '../src/config/slices.ts';
import type { SharingFacts } from '../src/sharing/process-key.ts';
import { productOptions } from './bundle-options.ts';

rmSync('dist', { recursive: true, force: true });

const singleFiles = [
  { in: 'src/cli/carrel.ts', out: 'carrel' },
  { in: 'src/cli/shared-command.ts', out: 'shared-command' },
  { in: 'src/cli/main.ts', out: 'main' },
  { in: 'src/storage/sqlite/threads/sqlite-worker.ts', out: 'sqlite-worker' },
];
const workers = globSync('src/**/*-worker.ts').map((file) => ({ in: file, out: workerName(file) }));
const splitWorkers = workers.filter(({ out }) => singleFiles.every((each) => each.out !== out));
const options = { ...productOptions, outdir: 'dist', metafile: true } as const;
const separatePackages = new Map<string, string>();
const plugins = [keepPackagesSeparate(separatePackages), ...productOptions.plugins];
const singleFileResults = await Promise.all(
  singleFiles.map((entry) => build({ ...options, plugins, splitting: false, entryPoints: [entry] })),
);
const packages = [...separatePackages].map(([file, out]) => ({ in: file, out }));
const splitResult = await build({ ...options, entryPoints: [...splitWorkers, ...packages] });

const inputs = [...singleFileResults, splitResult].flatMap(({ metafile }) => Object.keys(metafile.inputs));
writeNotices(bundledPackages(inputs));
for (const folder of globSync('src/**/assets')) cpSync(folder, join('dist', 'assets'), { recursive: true });
await build({
  entryPoints: [
    { in: 'src/console/client/console.ts', out: 'console' },
    { in: 'src/console/client/pdf.ts', out: 'pdf' },
    { in: 'src/console/styles/console.css', out: 'console' },
  ],
  outdir: 'dist/assets',
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  minify: true,
});

writeFileSync('dist/sharing.json', JSON.stringify(sharingFacts()));
writeFileSync('dist/main.js', escapeNonAscii(readFileSync('dist/main.js', 'utf8')));

// The WebAssembly fallback for onnxruntime-node. The rest of its package (139 MB) is not needed.
cpSync('node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm', 'dist/ort-wasm-simd-threaded.wasm');

cpSync('node_modules/pdfjs-dist/build/pdf.worker.min.mjs', 'dist/assets/pdf-worker.js');

// Files that pdf.js loads on demand: tables of Asian encodings, and decoders for scanned pages.
for (const path of ['cmaps', 'wasm/jbig2.wasm', 'wasm/openjpeg.wasm']) {
  cpSync(`node_modules/pdfjs-dist/${path}`, join('dist/pdfjs', path), { recursive: true });
}

/** Keeps packages that are imported on demand out of the single file: they would slow down starts that never need them. */
function keepPackagesSeparate(packages: Map<string, string>): Plugin {
  return {
    name: 'separate-packages',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        if (kind !== 'dynamic-import' || path.startsWith('node:')) return undefined;
        const name = path.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-/, '');
        packages.set(path, name);
        return { path: `./${name}.js`, external: true };
      });
    },
  };
}

function workerName(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1, -'.ts'.length);
}

/** Returns the folders of the bundled packages, given the bundled files. */
function bundledPackages(inputs: string[]): string[] {
  const folders = new Set<string>();
  for (const input of inputs) {
    const match = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input);
    if (match) folders.add(match[0]);
  }
  return [...folders].sort();
}

/** Writes the licences of all bundled packages, which must be shipped with them. */
function writeNotices(folders: string[]): void {
  const notices = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const licenceFile = globSync(`${folder}/{LICENSE,LICENCE,license}*`)[0];
    return `${name} ${version} (${license})\n\n${licenceFile && existsSync(licenceFile) ? readFileSync(licenceFile, 'utf8').trim() : ''}\n`;
  });
  writeFileSync('dist/THIRD-PARTY-NOTICES.txt', notices.join(`\n${'-'.repeat(80)}\n\n`));
}

/**
 * Escapes characters beyond ASCII. A single character beyond Latin-1 makes V8 store the whole source with two bytes per
 * character: 10 MB more in every process. esbuild does not escape such characters in regular expressions and templates.
 */
function escapeNonAscii(source: string): string {
  return source.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Collects what a stdio relay must know to find a shared process. Skips roles that never share a process: roles with their own
 * configuration file or without MCP.
 */
function sharingFacts(): SharingFacts {
  const all = Object.values(roles);
  const fields = [...programSlices, ...all.flatMap(({ slices }) => slices)].flatMap((slice) =>
    Object.values(slice.fields),
  );
  const overrideVariables = all.flatMap(({ overrides }) => Object.values(overrides).flatMap(({ env = [] }) => env));
  const { transport } = programSlices[0].fields;
  const shared = all.filter(({ prepare, serve }) => prepare === undefined && serve === undefined);
  return {
    variables: [...new Set([...fields.flatMap(({ env }) => env), ...overrideVariables])].sort(),
    commandVariables: [toolsSlice, ...serveRole.slices]
      .flatMap((slice) => Object.values<Field<unknown>>(slice.fields).flatMap(({ env }) => env))
      // These two affect which tools are listed and which files may be added, but not the answers to commands.
      .filter((name) => name !== 'CARREL_TOOLS' && name !== 'KB_ALLOWED_ROOTS'),
    roles: Object.fromEntries(
      shared.map(({ name, overrides: { 'http.transport': override } }) => [
        name,
        {
          transport: String(override?.default ?? transport.default),
          transportVariables: override?.env ?? transport.env,
        },
      ]),
    ),
  };
}
