import type { Logger } from '../../base/log.ts';
import type { SharedStore } from '../../base/shared-store.ts';
import type { MonotonicClock } from '../../base/sliding-window.ts';
import type { WebSources } from '../../crawl/web-sources.ts';
import type { Engine } from '../../engine/engine.ts';
import { measureEngine } from '../../engine/measure-engine.ts';
import type { Toolset } from '../../tools/toolset.ts';
import type { KbConfig } from './kb-slice.ts';
import { createCitableDocuments, createDocumentResources } from './shapes/document-resources.ts';
import { createDocumentSource } from './shapes/document-source.ts';
import { createKbBulkDeleteTool, createKbBulkSetTagsTool, createKbBulkTagsTool } from './tools/bulk-tools.ts';
import { createKbDeleteTool, createKbSetCollectionTool, createKbUpdateNoteTool } from './tools/change-tools.ts';
import { createKbConsoleTools } from './tools/console-tools.ts';
import { createKbAddnoteTool, createKbAddTool } from './tools/kb-add.ts';
import { createKbGetTool } from './tools/kb-get.ts';
import { createKbListTool } from './tools/kb-list.ts';
import { createKbSearchTool } from './tools/kb-search.ts';
import { createKbJobsTool, createKbStatusTool } from './tools/kb-status.ts';
import { createKbSourcesTool, createSourceResources, createSourceTools } from './tools/source-tools.ts';
import {
  createKbUploadChunkTool,
  createKbUploadFinishTool,
  createKbUploadStartTool,
  createUploadRoute,
} from './tools/upload-tools.ts';
import { createUploads } from './uploads/create-uploads.ts';
import { createSharedStaging } from './uploads/shared-staging.ts';
import { createStaging } from './uploads/staging.ts';

export interface KbDeps {
  /** Local or remote; closed with the toolset. */
  engine: Engine;
  /** Present if the engine is local; closed with the toolset. */
  web?: { readonly sources: WebSources; close(): Promise<void> } | undefined;
  /** Folder for unfinished uploads. */
  stagingFolder: string;
  /** Stores uploads that must survive a restart, so that any process can continue them. */
  shared?: SharedStore | undefined;
  /** Max bytes per transport message. */
  messageBytesMax: number;
  /** True if callers are on this machine and may name local paths. */
  isLocal: boolean;
  log: Logger;
  /** Called last when the toolset closes. */
  close?: () => Promise<void>;
  clock?: MonotonicClock;
}

/** Bytes reserved in an upload message for everything but the chunk. */
const envelopeBytes = 4096;

/** Creates the knowledge base tools, with the names and arguments of the original kb MCP server. */
export function createKbToolset(config: KbConfig, deps: KbDeps): Toolset {
  const { engine, log, web } = deps;
  const idleMs = config.uploadIdleSeconds * 1000;
  const survivesRestart =
    config.keepUploads === 'auto' ? config.engineUrl === undefined : config.keepUploads === 'true';
  const staging =
    survivesRestart && deps.shared ? createSharedStaging(deps.shared, { idleMs }) : createStaging(deps.stagingFolder);
  const uploads = createUploads(
    {
      bytesMax: config.uploadBytesMax,
      clientUploadsMax: config.uploadsPerClient,
      clientBytesMax: config.uploadBytesPerClient,
      uploadsMax: config.uploadsMax,
      stagingBytesMax: config.stagingBytesMax,
      idleMs,
      survivesRestart,
    },
    { staging, log, ...(deps.clock ? { clock: deps.clock } : {}) },
  );
  const paths = { isLocal: deps.isLocal, allowedRoots: config.allowedRoots, bytesMax: config.uploadBytesMax };
  const uploadStartOptions = {
    paths,
    publicUrl: config.publicUrl,
    chunkBytesMax: Math.max(3, Math.floor((deps.messageBytesMax - envelopeBytes) / 4) * 3),
    idleMs,
  };
  /** Creates the toolset for an engine, or for a restricted caller's view of it with only these collections. */
  const createFor = (view: Engine, collections?: readonly string[]): Toolset => ({
    name: 'kb',
    tools: [
      createKbSearchTool(view),
      createKbAddTool(view, { paths, sources: web?.sources, collections }),
      createKbAddnoteTool(view, collections),
      createKbUpdateNoteTool(view),
      createKbGetTool(view),
      createKbListTool(view),
      createKbStatusTool(view),
      createKbJobsTool(view),
      ...(web ? [createKbSourcesTool(web.sources, collections)] : []),
      createKbUploadStartTool({ ...uploadStartOptions, collections }, { uploads, engine: view }),
      createKbUploadChunkTool(uploads),
      createKbUploadFinishTool({ uploads, engine: view }),
      createKbDeleteTool(view),
      createKbSetCollectionTool(view),
      createKbBulkDeleteTool(view),
      createKbBulkTagsTool(view),
      createKbBulkSetTagsTool(view),
    ],
    consoleTools: [...createKbConsoleTools(view), ...(web ? createSourceTools(web.sources, collections) : [])],
    // As in the original kb MCP server, a failed call returns a tool result, not a JSON-RPC error.
    failures: { as: 'result' },
    resources: [createDocumentResources(view), ...(web ? [createSourceResources(web.sources, collections)] : [])],
    original: (id, signal) => view.file(id, { signal }),
    citable: [createCitableDocuments(view)],
    sources: [createDocumentSource(view)],
    secretRoutes: [createUploadRoute(uploads)],
  });
  const unrestricted = createFor(engine);
  return {
    ...unrestricted,
    // A remote engine can't be limited to collections, so restricted callers get no tools.
    scopedTo: ({ collections }) =>
      collections === undefined
        ? unrestricted
        : engine.scopedTo && createFor(engine.scopedTo(collections), collections),
    measure: () => measureEngine(engine, { isRemote: config.engineUrl !== undefined }),
    async close() {
      await uploads.close();
      await web?.close();
      await engine.close();
      await deps.close?.();
    },
  };
}
