import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageFile } from '../../base/program-files.ts';

/** Platforms with binaries in the native runtime's package. */
const systems = ['darwin-arm64', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64'];

/**
 * Returns the command that installs the native runtime if it is missing. npm silently skips this optional package when
 * offline; the models then run in WebAssembly, several times slower.
 */
export function missingRuntimeRemedy(from = packageFile('package.json')): string | undefined {
  if (!systems.includes(`${process.platform}-${process.arch}`) || isMusl()) return undefined;
  const require = createRequire(from);
  try {
    const folder = join(require.resolve('onnxruntime-node/package.json'), '..');
    const binary = join(folder, 'bin/napi-v6', process.platform, process.arch, 'onnxruntime_binding.node');
    if (existsSync(binary)) return undefined;
  } catch {
    // Not installed.
  }
  return installCommand(import.meta.url);
}

function installCommand(here: string): string {
  const install = 'npm install --no-save --omit=dev onnxruntime-node@1.30.0';
  const isDependency = here.includes('/node_modules/carrel/');
  const command = isDependency ? 'npm install --global carrel' : install;
  return process.platform === 'win32'
    ? `set ONNXRUNTIME_NODE_INSTALL=skip && ${command}`
    : `ONNXRUNTIME_NODE_INSTALL=skip ${command}`;
}

/** True on Alpine and similar systems: the package has no binary for their C library. */
function isMusl(): boolean {
  return (
    process.platform === 'linux' && existsSync(`/lib/ld-musl-${process.arch === 'x64' ? 'x86_64' : 'aarch64'}.so.1`)
  );
}
