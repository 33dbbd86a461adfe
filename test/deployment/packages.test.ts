import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { unzipSync } from 'fflate';
import * as z from 'zod';
import { loadRoleConfig } from '../../src/app/program.ts';
import { serveRole } from '../../src/app/roles.ts';
import { cleanEnv, makeFolder, withModels } from '../support/child-program.ts';
import { readDockerfile } from '../support/compose-file.ts';

const root = join(import.meta.dirname, '../..');
const readJson = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const published = readJson('package.json');

/** The requirements of the 2025-12-11 schema for the fields we use; others are rejected. */
const serverJson = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z
    .string()
    .max(255)
    .regex(/^\d+\.\d+\.\d+$/),
  packages: z.array(
    z.strictObject({
      registryType: z.enum(['npm', 'pypi', 'oci', 'nuget', 'mcpb']),
      identifier: z.string(),
      version: z.string().regex(/^\d+\.\d+\.\d+$/),
      runtimeHint: z.string(),
      transport: z.strictObject({ type: z.literal('stdio') }),
      environmentVariables: z.array(
        z.strictObject({
          name: z.string(),
          description: z.string(),
          format: z.enum(['string', 'number', 'boolean', 'filepath']),
          default: z.string().optional(),
        }),
      ),
    }),
  ),
});

test("contract §9: server.json follows the registry's schema, and names this package and its settings", () => {
  const server = serverJson.parse(readJson('server.json'));
  assert.deepEqual([server.name, server.version], [published.mcpName, published.version]);
  const labels = readDockerfile().last.get('LABEL');
  assert.deepEqual(labels, [`io.modelcontextprotocol.server.name="${server.name}"`], 'how an image proves its name');
  const [npm] = server.packages;
  assert.deepEqual([npm?.identifier, npm?.version], [published.name, published.version]);
  const values: Record<string, string> = { CARREL_HOME: '/somewhere', CARREL_READ_ONLY: 'true', CARREL_TOOLSETS: 'kb' };
  assert.deepEqual(
    npm?.environmentVariables.map(({ name }) => name),
    Object.keys(values),
  );
  const { dataDir, settings } = loadRoleConfig(serveRole, {}, values);
  assert.equal(dataDir, '/somewhere');
  for (const name of ['CARREL_READ_ONLY', 'CARREL_TOOLSETS'])
    assert.ok(
      settings.some(({ source }) => source === name),
      name,
    );
});

test('contract §9: the unpacked .mcpb starts per its manifest and completes the handshake', async (t) => {
  const folder = makeFolder(t);
  const script = join(root, 'scripts/package.ts');
  execFileSync(process.execPath, [script, '--only', 'mcpb', '--store', '--out', folder], { stdio: 'pipe' });
  const system = `${process.platform}-${process.arch}`;
  const archive = join(folder, `carrel-${published.version}-${system}.mcpb`);
  const files = unzipSync(readFileSync(archive));
  // npm expects a package's content in a folder of this name.
  const unpacked = join(folder, 'package');
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(unpacked, name)), { recursive: true });
    writeFileSync(join(unpacked, name), bytes);
    if (name.startsWith('bin/')) chmodSync(join(unpacked, name), 0o755);
  }

  await t.test('contains only the native runtime for this platform, and nothing to download', () => {
    const binaries = Object.keys(files).filter((name) => /\.(?:node|dll|dylib)$|\.so(?:\.\d+)*$/.test(name));
    assert.ok(binaries.length > 0);
    const place = `node_modules/onnxruntime-node/bin/napi-v6/${process.platform}/${process.arch}/`;
    for (const name of binaries) assert.ok(name.startsWith(place), name);
    const runtime = JSON.parse(readFileSync(join(unpacked, 'node_modules/onnxruntime-node/package.json'), 'utf8'));
    assert.deepEqual([runtime.scripts, Object.keys(runtime.dependencies)], [undefined, ['onnxruntime-common']]);
    const own = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
    assert.deepEqual([own.os, own.cpu, own.scripts], [[process.platform], [process.arch], undefined]);
    for (const name of own.bundleDependencies) assert.ok(existsSync(join(unpacked, 'node_modules', name)), name);
    const load = `require('onnxruntime-node'); require('tesseract.js-core/tesseract-core-lstm.js')`;
    execFileSync(process.execPath, ['-e', load], { cwd: unpacked, stdio: 'pipe' });
  });

  const manifest = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'));
  assert.deepEqual([manifest.manifest_version, manifest.version], ['0.3', published.version]);
  assert.deepEqual(manifest.compatibility.platforms, [process.platform]);
  assert.ok(existsSync(join(unpacked, manifest.server.entry_point)));
  const { command, args, env } = manifest.server.mcp_config;
  assert.equal(command, 'node');
  const home = join(folder, 'home');
  // Filled in as by a desktop app, with its initial values.
  const fill = (text: string): string =>
    text.replace(/\$\{([\w.]+)\}/g, (_, name: string) => {
      if (name === '__dirname') return unpacked;
      if (name === 'HOME') return home;
      return fill(String(manifest.user_config[name.replace('user_config.', '')].default));
    });
  const filled = Object.entries(env as Record<string, string>).map(([name, value]) => [name, fill(value)]);
  const client = await connect(t, args.map(fill), { ...cleanEnv(home, withModels), ...Object.fromEntries(filled) });
  const { tools } = await client.listTools();
  assert.deepEqual(
    manifest.tools.map(({ name }: { name: string }) => name),
    tools.map(({ name }) => name),
  );
  assert.ok(existsSync(join(home, '.carrel')), 'the data is where the manifest puts it');

  await t.test(
    'as an npm package it installs offline into an empty folder, and completes the handshake',
    async (own) => {
      const tarball = join(folder, 'carrel.tgz');
      // npm accepts it uncompressed, and hashes every byte, so large files that the handshake doesn't need are left out.
      const large = ['*.onnx', '*.wasm', 'libonnxruntime.so*'].map((name) => `--exclude=${name}`);
      execFileSync('tar', [...large, '-cf', tarball, '-C', folder, 'package']);
      const place = join(folder, 'installed');
      mkdirSync(place);
      writeFileSync(join(place, 'package.json'), '{}');
      const npm = ['install', '--offline', '--cache', join(folder, 'cache'), '--no-audit', '--no-fund', tarball];
      execFileSync('npm', npm, { cwd: place, stdio: 'pipe' });
      const program = join(place, 'node_modules/.bin/carrel');
      assert.ok(existsSync(join(place, 'node_modules/carrel/node_modules/onnxruntime-node')));
      const installed = await connect(own, [program], cleanEnv(join(folder, 'data')));
      assert.equal(installed.getServerVersion()?.version, published.version);
    },
  );
});

async function connect(t: TestContext, args: string[], env: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  t.after(() => client.close());
  assert.equal(client.getServerVersion()?.name, 'carrel');
  return client;
}
