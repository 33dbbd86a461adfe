import { accessSync, constants, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { openRemoteEngine } from '../app/open-engine.ts';
import { loadRoleConfig, prepareRole } from '../app/program.ts';
import type { Role } from '../app/role.ts';
import { CarrelError } from '../base/errors.ts';
import { makeFolder } from '../base/make-folder.ts';
import { maskAddress, scrubSecrets } from '../base/secret.ts';
import type { Config } from '../config/load.ts';
import { httpSlice } from '../config/slices.ts';
import { createEmbeddingProvider } from '../search/embeddings/create-embedding-provider.ts';
import { embeddingConfigOf } from '../search/embeddings/embedding-config.ts';
import { embeddingSlice } from '../search/embeddings/embedding-slice.ts';
import { openReranker } from '../search/reranking/open-reranker.ts';
import { rerankingSlice } from '../search/reranking/reranking-slice.ts';
import { kbSlice } from '../toolsets/kb/kb-slice.ts';
import type { Check } from './check.ts';
import type { CommandLine } from './command-line.ts';
import { checkDatabase } from './doctor-database.ts';
import { exitCodes } from './exit-codes.ts';
import { subjectOf } from './subject.ts';

const sqliteMin = [3, 46] as const;

/** Checks what the program needs from this machine. Each failed check says what to do next. */
export async function doctorCommand(line: CommandLine): Promise<void> {
  const checks = await examine(line);
  const failed = checks.filter(({ ok }) => !ok);
  if (line.flags['json'] === true) {
    process.stdout.write(`${scrubSecrets(JSON.stringify({ ok: failed.length === 0, checks }, null, 2))}\n`);
  } else {
    for (const { name, ok, found, remedy } of checks) {
      process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(12)} ${scrubSecrets(found)}\n`);
      if (!ok && remedy !== undefined) process.stdout.write(`     ${' '.repeat(12)} next: ${remedy}\n`);
    }
  }
  if (failed.length > 0) process.exitCode = exitCodes.configuration;
}

async function examine(line: CommandLine): Promise<Check[]> {
  const role = subjectOf(line);
  const checks: Check[] = [{ name: 'node', ok: true, found: process.version }, await checkSqlite()];
  let config: Config;
  try {
    config = loadRoleConfig(await prepareRole(role, line.flags), line.flags);
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    return [
      ...checks,
      { name: 'config', ok: false, found: error.message, remedy: 'fix it, then run carrel doctor again' },
    ];
  }
  const changed = config.settings.filter(({ source }) => source !== 'default').length;
  const found = `${config.settings.length} settings, ${changed} changed`;
  const misspelt = config.warnings[0];
  checks.push(
    misspelt === undefined
      ? { name: 'config', ok: true, found }
      : { name: 'config', ok: false, found: misspelt, remedy: remedyOf(config) },
    checkDataFolder(config.dataDir),
    ...(await checkDatabase(role, config)),
    ...(await checkEngine(role, config)),
    await checkPort(config),
    await checkModel(role, config),
    await checkReranker(role, config),
  );
  return checks;
}

function remedyOf({ exposedFile, warnings }: Config): string {
  if (exposedFile !== undefined && warnings.length === 1) return `chmod 600 ${exposedFile}`;
  return 'run carrel config to see all settings';
}

async function checkSqlite(): Promise<Check> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(':memory:');
  const facts = "SELECT sqlite_version() AS version, sqlite_compileoption_used('ENABLE_FTS5') AS fullText";
  const row = database.prepare(facts).get();
  database.close();
  const version = String(row?.['version']);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNewEnough = major > sqliteMin[0] || (major === sqliteMin[0] && minor >= sqliteMin[1]);
  // Node before 22.16 was built without FTS5, and the storage refuses to open there.
  const hasFullText = row?.['fullText'] === 1;
  const found = hasFullText ? version : `${version} without full-text search`;
  const remedy = 'install a newer Node, which includes a newer SQLite';
  return { name: 'sqlite', ok: isNewEnough && hasFullText, found, remedy };
}

/** Actually runs the bundled model, as the first search by meaning would. A server is only asked when first needed. */
async function checkModel(role: Role, config: Config): Promise<Check> {
  if (!role.slices.includes(embeddingSlice)) return { name: 'model', ok: true, found: 'none needed by this role' };
  const settings = config.of(embeddingSlice);
  if (settings.provider === 'none') return { name: 'model', ok: true, found: 'none: search by words only' };
  if (settings.provider !== 'local') return { name: 'model', ok: true, found: `from ${settings.provider}` };
  const embeddings = createEmbeddingProvider(embeddingConfigOf(settings));
  try {
    const [vector] = await embeddings.embed(['carrel']);
    return {
      name: 'model',
      ok: true,
      found: `${embeddings.name}, ${vector?.length} dimensions, on ${embeddings.device}`,
    };
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    const remedy = 'reinstall Carrel, or set EMBEDDING_PROVIDER to ollama, openai or none';
    return { name: 'model', ok: false, found: error.message, remedy };
  } finally {
    await embeddings.close();
  }
}

/** Actually runs the bundled model, as the first search would. */
async function checkReranker(role: Role, config: Config): Promise<Check> {
  const name = 'reranker';
  if (!role.slices.includes(rerankingSlice)) return { name, ok: true, found: 'none needed by this role' };
  const settings = config.of(rerankingSlice);
  const { provider, ...reranker } = openReranker(settings);
  if (provider === undefined) return { name, ok: true, found: 'off: results keep the order of the search' };
  if (settings.provider === 'http') return { name, ok: true, found: provider.name };
  try {
    await provider.score('carrel', ['carrel']);
    return { name, ok: true, found: `${provider.name}, on ${provider.device}` };
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    const remedy = 'reinstall Carrel, or set RERANKING_PROVIDER to http or none';
    return { name, ok: false, found: error.message, remedy };
  } finally {
    await reranker.close();
  }
}

function checkDataFolder(folder: string): Check {
  try {
    const existed = existsSync(folder);
    makeFolder(folder);
    accessSync(folder, constants.R_OK | constants.W_OK);
    return { name: 'data folder', ok: true, found: existed ? folder : `${folder} (just created)` };
  } catch {
    const remedy = `make ${folder} writable, or choose another folder with --data-dir`;
    return { name: 'data folder', ok: false, found: `${folder} is not writable`, remedy };
  }
}

function checkPort(config: Config): Promise<Check> {
  const { host, port } = config.of(httpSlice);
  const place = `${host}:${port}`;
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const found = error.code === 'EADDRINUSE' ? `${place} is in use` : `${place} can't be listened on`;
      resolve({
        name: 'port',
        ok: false,
        found,
        remedy: 'choose another with --port, or stop the program that uses it',
      });
    });
    probe.listen(port, host, () => probe.close(() => resolve({ name: 'port', ok: true, found: `${place} is free` })));
  });
}

const timeoutMs = 5_000;

/** Whether a remote kb engine answers and accepts our key. One in the same process needs no check. */
export async function checkEngine(role: Role, config: Config): Promise<Check[]> {
  const engine = role.slices.includes(kbSlice) ? await openRemoteEngine(config, timeoutMs) : undefined;
  if (engine === undefined) return [];
  const shown = maskAddress(config.of(kbSlice).engineUrl ?? '');
  try {
    const { version, documents } = await engine.status();
    return [{ name: 'kb engine', ok: true, found: `${shown}: version ${version}, ${documents} documents` }];
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    const remedy =
      error.code === 'engine_unauthorized'
        ? "set KB_API_KEY to the engine's key"
        : 'start the engine (carrel engine), or fix KB_ENGINE_URL';
    return [{ name: 'kb engine', ok: false, found: `${shown}: ${error.message}`, remedy }];
  } finally {
    await engine.close();
  }
}
