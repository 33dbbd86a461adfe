import { dirname } from 'node:path';
import { loadRoleConfig, prepareRole } from '../../app/program.ts';
import type { Role } from '../../app/role.ts';
import { CarrelError } from '../../base/errors.ts';
import { exitCodes } from '../../base/exit-codes.ts';
import { scrubSecrets } from '../../base/secret.ts';
import type { Config } from '../../config/load.ts';
import { storageSlice } from '../../storage/storage-slice.ts';
import { researchSlice } from '../../toolsets/research/research-slice.ts';
import { createProviders, missingSetting } from '../../toolsets/research/web-search/create-providers.ts';
import type { CommandLine } from '../command-line.ts';
import { roleOf } from '../named-role.ts';
import { checkDatabase } from './check-database.ts';
import { checkEngine, checkRoles } from './check-engine.ts';
import { type Check, checkDataFolder, checkDisks, checkPort, checkReaders, checkSqlite } from './check-machine.ts';
import { checkModel, checkReranker } from './check-models.ts';
import { checkSharing } from './check-sharing.ts';
import { checkTelemetry } from './check-telemetry.ts';

/** Checks what the program needs from this machine. Each failed check names the next step. */
export async function doctorCommand(line: CommandLine): Promise<void> {
  const checks = await runChecks(line);
  const failed = checks.filter(({ ok }) => !ok);
  if (line.flags['json'] === true) {
    process.stdout.write(`${scrubSecrets(JSON.stringify({ ok: failed.length === 0, checks }, null, 2))}\n`);
  } else {
    for (const { name, ok, found, remedy } of checks) {
      const status = ok ? (remedy === undefined ? 'ok  ' : 'warn') : 'FAIL';
      process.stdout.write(`${status} ${name.padEnd(12)} ${scrubSecrets(found)}\n`);
      if (remedy !== undefined) process.stdout.write(`     ${' '.repeat(12)} next: ${remedy}\n`);
    }
  }
  if (failed.length > 0) process.exitCode = exitCodes.configuration;
}

async function runChecks(line: CommandLine): Promise<Check[]> {
  const role = roleOf(line);
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
  const warning = config.warnings[0];
  checks.push(
    warning === undefined
      ? { name: 'config', ok: true, found }
      : { name: 'config', ok: false, found: warning, remedy: remedyOf(config) },
    checkDataFolder(config.dataDir),
    ...checkDisks(foldersOf(role, config)),
    ...(await checkDatabase(role, config)),
    ...checkRoles(role, config),
    ...(await checkEngine(role, config)),
    ...checkWebSearch(role, config),
    ...(await checkSharing(config)),
    await checkPort(config),
    checkReaders(),
    await checkModel(role, config),
    ...(await checkReranker(role, config)),
    ...(await checkTelemetry(role, config)),
  );
  return checks;
}

function foldersOf(role: Role, config: Config): string[] {
  const path = role.slices.includes(storageSlice) ? config.of(storageSlice).path : undefined;
  return path === undefined ? [config.dataDir] : [config.dataDir, dirname(path)];
}

/** Checks only the settings of the web search provider: a real query might cost money. */
function checkWebSearch(role: Role, config: Config): Check[] {
  if (!role.slices.includes(researchSlice)) return [];
  const settings = config.of(researchSlice);
  const missing = missingSetting(settings);
  if (missing !== undefined) {
    const found = `SEARCH_PROVIDER=${settings.searchProvider} requires ${missing}`;
    const remedy = `set ${missing}, or use SEARCH_PROVIDER=duckduckgo, which needs no key`;
    return [{ name: 'web search', ok: false, found, remedy }];
  }
  const [first, ...fallbacks] = createProviders(settings).map(({ name }) => name);
  const found = fallbacks.length === 0 ? `${first}` : `${first}, then ${fallbacks.join(', ')}`;
  return [{ name: 'web search', ok: true, found }];
}

function remedyOf({ exposedFile, warnings }: Config): string {
  if (exposedFile !== undefined && warnings.length === 1) return `chmod 600 ${exposedFile}`;
  return 'run carrel config to see all settings';
}
