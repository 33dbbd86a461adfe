/**
 * Bundles the program into dist/: one entry for the command line and one for each worker, with what they share in
 * chunks. What is loaded only when first needed stays in chunks of its own, so start-up reads little.
 */
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { productOptions } from './bundle-options.ts';

rmSync('dist', { recursive: true, force: true });

const workers = globSync('src/**/*-worker.ts').map((file) => ({ in: file, out: workerName(file) }));
const result = await build({
  ...productOptions,
  entryPoints: [{ in: 'src/cli/main.ts', out: 'carrel' }, ...workers],
  outdir: 'dist',
  metafile: true,
});

writeNotices(bundledPackages(Object.keys(result.metafile.inputs)));
for (const folder of globSync('src/**/assets')) cpSync(folder, join('dist', 'assets'), { recursive: true });

// The one WebAssembly file that stands in for onnxruntime-node; its package has 139 MB of others.
cpSync('node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm', 'dist/ort-wasm-simd-threaded.wasm');

function workerName(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1, -'.ts'.length);
}

/** The folders of the packages that went into the bundle, found from the files that did. */
function bundledPackages(inputs: string[]): string[] {
  const folders = new Set<string>();
  for (const input of inputs) {
    const match = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input);
    if (match) folders.add(match[0]);
  }
  return [...folders].sort();
}

/** Licences of what is bundled travel with the bundle. */
function writeNotices(folders: string[]): void {
  const notices = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const text = globSync(`${folder}/{LICENSE,LICENCE,license}*`)[0];
    return `${name} ${version} (${license})\n\n${text && existsSync(text) ? readFileSync(text, 'utf8').trim() : ''}\n`;
  });
  writeFileSync(join(dirname('dist/carrel.js'), 'THIRD-PARTY-NOTICES.txt'), notices.join(`\n${'-'.repeat(80)}\n\n`));
}
