import { loadRoleConfig, prepareRole } from '../app/program.ts';
import { scrubSecrets } from '../base/secret.ts';
import type { CommandLine } from './command-line.ts';
import { roleOf } from './named-role.ts';

/** Prints every setting with its effective value and source. Secrets are masked. */
export async function configCommand(line: CommandLine): Promise<void> {
  const config = loadRoleConfig(await prepareRole(roleOf(line), line.flags), line.flags);
  for (const warning of config.warnings) process.stderr.write(`carrel: ${warning}\n`);
  if (line.flags['json'] === true) {
    const settings = Object.fromEntries(
      config.settings.map(({ path, printable, source }) => [path, { value: printable ?? null, source }]),
    );
    process.stdout.write(`${scrubSecrets(JSON.stringify({ dataDir: config.dataDir, settings }, null, 2))}\n`);
    return;
  }
  const rows = config.settings.map(({ path, printable, source }) => [path, formatValue(printable), source] as const);
  const width = (column: 0 | 1): number => Math.max(...rows.map((row) => row[column].length));
  process.stdout.write(`data folder: ${config.dataDir}\n`);
  for (const [path, value, source] of rows) {
    process.stdout.write(`${path.padEnd(width(0))}  ${value.padEnd(width(1))}  ${source}\n`);
  }
}

function formatValue(value: unknown): string {
  if (value === undefined) return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : scrubSecrets(value.join(','));
  return scrubSecrets(String(value));
}
