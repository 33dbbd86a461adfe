/**
 * Bundles the program into dist/. What every start needs is one file for each thread, because a module costs a fraction of
 * a millisecond to find and to link, and hundreds of them more than what is in them; parts that are first needed later lie
 * in the same file and are not run before. The other workers share chunks, and load what is heavy when it is needed.
 */
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { productOptions } from './bundle-options.ts';

rmSync('dist', { recursive: true, force: true });

const whole = [
  { in: 'src/cli/launch.ts', out: 'carrel' },
  { in: 'src/cli/main.ts', out: 'main' },
  { in: 'src/storage/sqlite/sqlite-worker.ts', out: 'sqlite-worker' },
];
const workers = globSync('src/**/*-worker.ts').map((file) => ({ in: file, out: workerName(file) }));
const others = workers.filter(({ out }) => whole.every((each) => each.out !== out));
const options = { ...productOptions, outdir: 'dist', metafile: true } as const;
const results = await Promise.all([
  ...whole.map((entry) => build({ ...options, splitting: false, entryPoints: [entry] })),
  build({ ...options, entryPoints: others }),
]);

writeNotices(bundledPackages(results.flatMap(({ metafile }) => Object.keys(metafile.inputs))));
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
