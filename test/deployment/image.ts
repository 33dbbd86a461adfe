import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readDockerfile } from '../support/compose-file.ts';

const root = join(import.meta.dirname, '../..');

export interface Image {
  /** The command line of a container for a service's command. */
  entry(command: readonly string[]): string[];
  env: Record<string, string>;
}

/**
 * Copies the last stage of the Dockerfile into a folder, and nothing else: a missing file fails here as it would in a
 * container.
 */
export function layOutImage(folder: string, dataDir: string): Image {
  const { last } = readDockerfile();
  assert.deepEqual(last.get('WORKDIR'), ['/app']);
  const app = join(folder, 'app');
  mkdirSync(app, { recursive: true });
  for (const line of last.get('COPY') ?? []) {
    if (line === '--from=dependencies /app/node_modules node_modules') linkRuntimePackages(app);
    else {
      const words = line.replace('--from=build /app/', '').split(' ');
      const target = words.at(-1) ?? '';
      for (const name of words.slice(0, -1)) {
        cpSync(join(root, name), join(app, target === './' ? name : target), { recursive: true });
      }
    }
  }
  const [program, script] = jsonOf(last.get('ENTRYPOINT'));
  assert.equal(program, 'node');
  const env: Record<string, string> = {};
  for (const line of last.get('ENV') ?? []) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(line) ?? [];
    env[name] = value;
  }
  assert.equal(env['CARREL_HOME'], '/data');
  return {
    entry: (command) => [process.execPath, (script ?? '').replace('/app', app), ...command],
    env: { ...env, CARREL_HOME: dataDir },
  };
}

/** Like `npm ci --omit=dev`: the optional dependency and what it needs. */
function linkRuntimePackages(app: string): void {
  const packages = join(app, 'node_modules');
  mkdirSync(packages);
  for (const name of ['onnxruntime-node', 'onnxruntime-common']) {
    const source = join(root, 'node_modules', name);
    if (existsSync(source)) symlinkSync(source, join(packages, name));
  }
}

function jsonOf(lines: readonly string[] | undefined): string[] {
  const parsed: unknown = JSON.parse(lines?.[0] ?? '[]');
  assert.ok(Array.isArray(parsed));
  return parsed.map(String);
}
