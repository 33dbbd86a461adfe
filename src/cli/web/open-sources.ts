import { isLocalEngine, openEngine } from '../../app/open-engine.ts';
import { type OpenedSources, openWebSources } from '../../app/open-web-sources.ts';
import { loadRoleConfig } from '../../app/program.ts';
import { kbRole } from '../../app/roles.ts';
import { createSharedServices } from '../../app/shared-services.ts';
import { CarrelError } from '../../base/errors.ts';
import type { LocalEngine } from '../../engine/local/submit.ts';
import type { CommandLine } from '../command-line.ts';
import { logOf } from '../debug-log.ts';

/** Opens the web sources for a command. With `crawls`, the command fetches the pages itself. */
export async function withSources(
  line: CommandLine,
  crawls: boolean,
  work: (opened: OpenedSources & { engine: LocalEngine }) => Promise<void>,
): Promise<void> {
  const config = loadRoleConfig(kbRole, line.flags);
  const log = logOf(line);
  const context = { config, log, shared: createSharedServices(config, log) };
  const engine = await openEngine(context);
  try {
    if (!isLocalEngine(engine)) {
      throw new CarrelError(
        'invalid_config',
        'The engine at KB_ENGINE_URL keeps its own web sources. Run this command where that engine runs, without KB_ENGINE_URL.',
      );
    }
    const opened = await openWebSources(context, engine, crawls ? 'own runs' : 'never');
    try {
      await work({ ...opened, engine });
    } finally {
      await opened.close();
    }
  } finally {
    await engine.close();
  }
}
