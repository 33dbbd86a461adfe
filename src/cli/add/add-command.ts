import { statSync } from 'node:fs';
import { engineSlices, openEngine } from '../../app/open-engine.ts';
import { loadRoleConfig } from '../../app/program.ts';
import { kbRole } from '../../app/roles.ts';
import { createSharedServices } from '../../app/shared-services.ts';
import { CarrelError } from '../../base/errors.ts';
import { exitCodes } from '../../base/exit-codes.ts';
import { collectionTag } from '../../engine/collection-tag.ts';
import { defaultCollection, readTags, tagsToStore } from '../../toolsets/kb/inputs/collections.ts';
import { kbSlice } from '../../toolsets/kb/kb-slice.ts';
import type { CommandLine } from '../command-line.ts';
import { logOf } from '../debug-log.ts';
import { stopOnSignal } from '../stop-on-signal.ts';
import { usageError } from '../usage-error.ts';
import { addWeb, isUrl, webFlags } from '../web/add-web.ts';
import { addAll } from './add-all.ts';
import { findFiles, resolveRoot } from './find-files.ts';
import { createMirror } from './mirror.ts';
import { ownDataOf } from './own-data.ts';
import { createReporter } from './report.ts';
import { watchFolders } from './watch.ts';

/** `carrel add <paths or urls…>`: adds files, folders and web pages to the knowledge base. */
export async function addCommand(line: CommandLine): Promise<void> {
  if (line.args.some(isUrl)) return addWeb(line);
  const flag = webFlags.find((name) => line.flags[name] !== undefined);
  if (flag !== undefined) throw usageError(`--${flag} is for addresses such as https://docs.example.org/.`);
  const plan = readPlan(line);
  const stop = stopOnSignal();
  const reporter = createReporter(line.flags['json'] === true, process);
  const config = loadRoleConfig({ ...kbRole, slices: engineSlices }, line.flags);
  const log = logOf(line);
  const engine = await openEngine({ config, log, shared: createSharedServices(config, log) });
  try {
    const waitsForVectors = config.of(kbSlice).engineUrl === undefined;
    const selection = { ...plan.selection, isOwnData: ownDataOf(config) };
    const run = { engine, reporter, tags: plan.tags, signal: stop.signal, waitsForVectors };
    if (line.flags['watch'] === true) {
      const mirror = createMirror({ ...run, ...plan, selection });
      await watchFolders(mirror, { folders: plan.folders, reporter, signal: stop.signal });
      return;
    }
    const { failed } = await addAll(findFiles(line.args, selection), run);
    if (failed > 0) process.exitCode = exitCodes.unexpected;
  } catch (error) {
    reporter.end();
    throw stop.signal.aborted ? interruptedError() : error;
  } finally {
    await engine.close();
    stop.release();
  }
}

/** Validates the whole command before an engine is started. */
function readPlan({ args, flags, lists }: CommandLine) {
  const tagArguments = {
    collection: typeof flags['collection'] === 'string' ? flags['collection'] : undefined,
    tags: [...(lists['tag'] ?? []), ...(lists['tags'] ?? []).flatMap((names) => names.split(','))],
  };
  let tags: string[];
  try {
    tags = tagsToStore(tagArguments);
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error;
    throw usageError(error.message, { cause: error });
  }
  const folders = args.map(resolveRoot);
  const file = folders.find((path) => !statSync(path).isDirectory());
  if (flags['watch'] === true && file !== undefined) {
    throw usageError(`${file} is not a folder, and --watch follows folders only.`);
  }
  const selection = {
    include: lists['include'] ?? [],
    exclude: lists['exclude'] ?? [],
    includesIgnored: flags['no-gitignore'] === true,
  };
  const { collection = defaultCollection } = readTags(tagArguments);
  return { tags, folders, selection, collectionTag: collectionTag(collection) };
}

function interruptedError(): CarrelError {
  return new CarrelError(
    'cancelled',
    'Stopped. Accepted files are ingested by the next engine that runs; add the others again.',
  );
}
