/**
 * Packs dist/ for one system, including the native runtime for local models:
 *
 *   node scripts/package.ts [--platform linux] [--arch x64] [--out .] [--only tgz|mcpb] [--store]
 *
 * `carrel-<version>-<platform>-<arch>.tgz` is for `npm install` and includes all dependencies; `.mcpb` is for desktop apps. The
 * runtime's npm package has the binaries of all systems, so any machine can build the files for any system. `--store` skips
 * compression.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { writeZip } from './write-zip.ts';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

export interface System {
  readonly platform: string;
  readonly arch: string;
}

/** Files that are needed from packages outside the bundle. The first two packages support only some systems. */
const runtimeFiles = {
  'onnxruntime-node': ['README.md', 'dist/**/*.js', 'bin/napi-v6/<system>/*'],
  'onnxruntime-common': ['package.json', 'README.md', 'dist/cjs/**/*.{js,json}'],
  'tesseract.js-core': ['package.json', 'LICENSE', 'tesseract-core{,-simd,-relaxedsimd}-lstm.{js,wasm}'],
  '@tesseract.js-data/eng': ['package.json', 'README.md', 'index.js', '4.0.0_best_int/*'],
};

/** Returns the packages for a system. Where there is no native runtime, models run in WebAssembly, which is in dist/. */
function packagesFor({ platform, arch }: System): string[] {
  const hasNative = existsSync(join(root, `node_modules/onnxruntime-node/bin/napi-v6/${platform}/${arch}`));
  return Object.keys(runtimeFiles).filter((name) => hasNative || !name.startsWith('onnxruntime-'));
}

/** Copies everything that will be installed into a folder. */
export function stage(folder: string, system: System): void {
  const copy = (file: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { recursive: true });
  };
  for (const name of manifest.files) copy(name);
  const packages = packagesFor(system);
  for (const name of packages) {
    for (const pattern of runtimeFiles[name as keyof typeof runtimeFiles]) {
      const systemPattern = pattern.replace('<system>', `${system.platform}/${system.arch}`);
      for (const file of globSync(`node_modules/${name}/${systemPattern}`, { cwd: root }))
        if (!isDuplicateLibrary(file)) copy(file);
    }
  }
  const { scripts: _, devDependencies: _dev, overrides: _overrides, allowScripts: _allow, ...published } = manifest;
  const packageJson = {
    ...published,
    os: [system.platform],
    cpu: [system.arch],
    optionalDependencies: Object.fromEntries(packages.map((name) => [name, packageOf(name).version])),
    bundleDependencies: packages,
  };
  writeJson(join(folder, 'package.json'), packageJson);
  if (!packages.includes('onnxruntime-node')) return;
  // Drops the runtime's install script, which downloads GPU libraries, and the dependencies that only the script needs.
  const { scripts: _install, dependencies, devDependencies: _runtimeDev, ...runtime } = packageOf('onnxruntime-node');
  const runtimeDependencies = { 'onnxruntime-common': dependencies['onnxruntime-common'] };
  writeJson(join(folder, 'node_modules/onnxruntime-node/package.json'), {
    ...runtime,
    dependencies: runtimeDependencies,
  });
}

/** True if the file is the redundant second copy of the macOS library. The native binding loads the copy with the other name. */
function isDuplicateLibrary(file: string): boolean {
  return /libonnxruntime\.\d+\.\d+\.\d+\.dylib$/.test(file);
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

function packageOf(name: string) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
}

/** Creates the manifest of the .mcpb bundle, in version 0.3 of the format. */
export function bundleManifest({ platform }: System): Record<string, unknown> {
  const { serve }: { serve: { name: string; title: string }[] } = JSON.parse(
    readFileSync(join(root, 'test/snapshots/tools.json'), 'utf8'),
  );
  return {
    manifest_version: '0.3',
    name: manifest.name,
    display_name: 'Carrel',
    version: manifest.version,
    description: manifest.description,
    author: { name: 'The Carrel maintainers' },
    license: manifest.license,
    keywords: ['search', 'memory', 'knowledge base', 'research'],
    server: {
      type: 'node',
      entry_point: 'bin/carrel.js',
      mcp_config: {
        command: 'node',
        // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the app fills these in
        args: ['${__dirname}/bin/carrel.js', 'serve'],
        env: { CARREL_HOME: '${user_config.data_folder}', CARREL_READ_ONLY: '${user_config.read_only}' },
        // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above
      },
    },
    // The list can change: a Fess server adds tools, and read-only mode removes some.
    tools_generated: true,
    tools: serve
      .filter(({ name }) => !name.startsWith('fess_'))
      .map(({ name, title }) => ({ name, description: title })),
    user_config: {
      data_folder: {
        type: 'directory',
        title: 'Data folder',
        description: 'Where memories, notes and documents are stored.',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the app fills it in
        default: '${HOME}/.carrel',
        required: true,
      },
      read_only: {
        type: 'boolean',
        title: 'Read only',
        description: 'Offer only tools that change nothing.',
        default: false,
        required: true,
      },
    },
    compatibility: { platforms: [platform], runtimes: { node: manifest.engines.node } },
  };
}

function packBundle(folder: string, file: string, system: System, level: number): void {
  const files = globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name))
    .map((path) => ({ name: path.slice(folder.length + 1).replaceAll('\\', '/'), content: { file: path } }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const text = `${JSON.stringify(bundleManifest(system), null, 2)}\n`;
  writeZip(file, [{ name: 'manifest.json', content: { text } }, ...files], level);
}

function packTarball(folder: string, file: string): void {
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', dirname(file), folder], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      shell: process.platform === 'win32',
    }),
  );
  renameSync(join(dirname(file), filename), file);
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      platform: { type: 'string', default: process.platform },
      arch: { type: 'string', default: process.arch },
      out: { type: 'string', default: root },
      only: { type: 'string' },
      store: { type: 'boolean', default: false },
    },
  });
  const system = { platform: values.platform, arch: values.arch };
  const out = resolve(values.out);
  const folder = mkdtempSync(join(tmpdir(), 'carrel-package-'));
  try {
    stage(folder, system);
    for (const kind of ['tgz', 'mcpb'].filter((each) => values.only === undefined || values.only === each)) {
      const file = join(out, `${manifest.name}-${manifest.version}-${system.platform}-${system.arch}.${kind}`);
      if (kind === 'tgz') packTarball(folder, file);
      else packBundle(folder, file, system, values.store ? 0 : 9);
      console.log(`${file} ${(statSync(file).size / 1e6).toFixed(0)} MB`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
