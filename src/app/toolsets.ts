import { join } from 'node:path';
import { CarrelError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Rights } from '../base/rights.ts';
import type { Slice } from '../config/field.ts';
import type { Config } from '../config/load.ts';
import { httpSlice, toolsSlice } from '../config/slices.ts';
import type { CallJobs } from '../jobs/call-jobs.ts';
import { embeddingSlice } from '../search/models/embedding-slice.ts';
import { rerankingSlice } from '../search/rerank/reranking-slice.ts';
import { storageSlice } from '../storage/storage-slice.ts';
import { scopeToolsets, type Toolset } from '../tools/toolset.ts';
import { contextSlice } from '../toolsets/context/context-slice.ts';
import { fessSlice } from '../toolsets/fess/fess-slice.ts';
import { kbSlice } from '../toolsets/kb/kb-slice.ts';
import { researchSlice } from '../toolsets/research/research-slice.ts';
import { openFessForServe } from './fess-role.ts';
import { ownTargets } from './http-settings.ts';
import { engineSlices, isLocalEngine, openEngine } from './open-engine.ts';
import { openWebSources } from './open-web-sources.ts';
import type { Role } from './role.ts';
import { type SharedServices, withServices } from './shared-services.ts';

/** A toolset with its settings. */
interface ToolsetModule {
  name: string;
  slices: readonly Slice[];
  /** Returns undefined if the toolset is not configured. */
  open(context: OpenContext): Promise<Toolset | undefined>;
}

interface OpenContext {
  config: Config;
  log: Logger;
  jobs: CallJobs;
  shared: SharedServices;
}

export const research: ToolsetModule = {
  name: 'research',
  slices: [storageSlice, rerankingSlice, researchSlice],
  open: ({ config, log, shared }) =>
    withServices(shared, async (services, close) => {
      const [storage, extractor, reranker, { createResearchToolset }] = await Promise.all([
        services.storage(),
        services.extractor(),
        services.reranker(),
        import('../toolsets/research/toolset.ts'),
      ]);
      const { notes, shared: sharedStore } = storage;
      return createResearchToolset(config.of(researchSlice), {
        notes,
        extractor,
        reranker,
        log,
        shared: sharedStore,
        ownTargets: ownTargets(config),
        close,
      });
    }),
};

export const context: ToolsetModule = {
  name: 'context',
  slices: [storageSlice, embeddingSlice, rerankingSlice, contextSlice],
  open: ({ config, log, shared }) =>
    withServices(shared, async (services, close) => {
      const embeddingSettings = config.of(embeddingSlice);
      const [storage, embeddings, reranker, { openContextToolset }] = await Promise.all([
        services.storage(),
        embeddingSettings.provider === 'none' ? undefined : services.embeddings(),
        services.reranker(),
        import('../toolsets/context/toolset.ts'),
      ]);
      return openContextToolset(config.of(contextSlice), {
        modelServers: embeddingSettings,
        storage,
        embeddings,
        reranker,
        previousEmbeddings: shared.previousEmbeddings,
        log,
        close,
      });
    }),
};

export const kb: ToolsetModule = {
  name: 'kb',
  slices: engineSlices,
  open: (context) =>
    withServices(context.shared, async (services, close) => {
      const { config, log } = context;
      const hasLocalEngine = config.of(kbSlice).engineUrl === undefined;
      const [{ createKbToolset }, engine, storage] = await Promise.all([
        import('../toolsets/kb/toolset.ts'),
        openEngine(context),
        hasLocalEngine ? services.storage() : undefined,
      ]);
      const web = isLocalEngine(engine) ? await openWebSources(context, engine) : undefined;
      const { transport, messageBytesMax } = config.of(httpSlice);
      try {
        return createKbToolset(config.of(kbSlice), {
          engine,
          web,
          stagingFolder: join(config.dataDir, 'kb-uploads'),
          shared: storage?.shared,
          messageBytesMax,
          isLocal: transport === 'stdio',
          log,
          close,
        });
      } catch (error) {
        await web?.close();
        await engine.close();
        throw error;
      }
    }),
};

const fess: ToolsetModule = { name: 'fess', slices: [fessSlice], open: openFessForServe };

/** All toolsets except `find`, in the order in which their tools are listed. */
const modules: readonly ToolsetModule[] = [context, research, kb, fess];

/** The toolset `find`, which searches the sources of all other toolsets. */
const findName = 'find';

export const toolsetNames: readonly string[] = [...modules.map(({ name }) => name), findName];

export const serveSlices: readonly Slice[] = [...new Set(modules.flatMap(({ slices }) => slices))];

/** Opens the toolset of a role that has only one. */
export function openOnly({ open }: ToolsetModule): Role['openToolsets'] {
  return async (config, log, jobs, shared) => {
    const toolset = await open({ config, log, jobs, shared });
    return toolset ? [toolset] : [];
  };
}

/** Opens the toolsets that `--toolsets` names, or all configured ones. */
export const openServed: Role['openToolsets'] = async (config, log, jobs, shared) => {
  const requested = requestedNames(config);
  // With `--toolsets find`, the tool find still searches every toolset, but no other tools are offered.
  const isFindAlone = requested.size === 1 && requested.has(findName);
  const openContext = { config, log, jobs, shared };
  // Toolsets open concurrently: the code of one loads while another waits for the database.
  const opening = modules
    .filter(({ name }) => isFindAlone || requested.has(name))
    .map((module) => module.open(openContext));
  const outcomes = await Promise.allSettled(opening);
  const toolsets = outcomes.flatMap((each) => (each.status === 'fulfilled' && each.value ? [each.value] : []));
  const failed = outcomes.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await Promise.allSettled(toolsets.map((toolset) => toolset.close?.()));
    throw failed.reason;
  }
  const opened = toolsets.map((toolset) => withErrorResults(toolset, isFindAlone));
  if (!requested.has(findName) || !opened.some(({ sources = [] }) => sources.length > 0)) return opened;
  const [{ createFindToolset }, lease] = await Promise.all([import('../toolsets/find/toolset.ts'), shared.reranker()]);
  const disabled = config.of(toolsSlice).disabledTools.map((name) => name.toLowerCase());
  const createFindFor = (offered: readonly Toolset[]): Toolset => {
    const sources = offered.flatMap((toolset) => toolset.sources ?? []);
    const texts = offered
      .flatMap((toolset) => toolset.citable ?? [])
      .filter(({ tool }) => tool === undefined || !disabled.includes(tool));
    return createFindToolset(sources, texts, { reranker: lease.resource, close: () => lease.release() });
  };
  const scopedFind = (rights: Rights): Toolset | undefined => {
    const offered = scopeToolsets(opened, rights);
    return offered.some(({ sources = [] }) => sources.length > 0) ? createFindFor(offered) : undefined;
  };
  return [...opened, { ...createFindFor(opened), scopedTo: scopedFind }];
};

/** Makes a toolset report errors as results. Outside `serve`, research and fess report them as JSON-RPC errors. */
function withErrorResults(toolset: Toolset, withoutTools: boolean): Toolset {
  const { scopedTo } = toolset;
  return {
    ...toolset,
    failures: { as: 'result' },
    ...(withoutTools ? { tools: [], consoleTools: [] } : {}),
    ...(scopedTo
      ? {
          scopedTo(rights: Rights) {
            const scoped = scopedTo(rights);
            return scoped && withErrorResults(scoped, withoutTools);
          },
        }
      : {}),
  };
}

/** Returns the names of the toolsets that `serve` offers. Throws if one is unknown. */
export function requestedNames(config: Config): Set<string> {
  const { toolsets } = config.of(toolsSlice);
  const unknown = toolsets.find((name) => !toolsetNames.includes(name));
  if (unknown === undefined) return new Set(toolsets.length > 0 ? toolsets : toolsetNames);
  const source = config.settings.find(({ path }) => path === 'tools.toolsets')?.source ?? '';
  const quoted = JSON.stringify(unknown.slice(0, 60));
  throw new CarrelError(
    source.startsWith('--') ? 'invalid_usage' : 'invalid_config',
    `${source} names ${quoted}, which is not a toolset. Choose from ${toolsetNames.join(', ')}.`,
  );
}

export async function closeToolsets(toolsets: readonly Toolset[]): Promise<void> {
  await Promise.allSettled(toolsets.map((toolset) => toolset.close?.()));
}
