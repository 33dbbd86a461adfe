import assert from 'node:assert/strict';
import * as z from 'zod';
import { createInputParser, type InputParser } from './input.ts';
import { toJsonSchema } from './json-schema.ts';
import type { Tool } from './tool.ts';
import { mayBecomeJob, type Toolset } from './toolset.ts';

interface CatalogueOptions {
  /** Enables only read-only tools. */
  readOnly: boolean;
  /** Names of disabled tools, case-insensitive. */
  disabledTools: readonly string[];
  /** Names to list; all by default. Unlisted tools can still be called. */
  listedTools?: ReadonlySet<string> | undefined;
}

export interface EnabledTool {
  readonly tool: Tool;
  readonly toolset: Toolset;
  readonly parser: InputParser;
  /** As shown by `tools/list`. */
  readonly listing: ToolListing;
}

export interface ToolListing {
  name: string;
  title: string;
  description: string;
  inputSchema: object;
  outputSchema: object;
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

/** All enabled tools of this process, in the order of toolsets and their tools. */
export interface Catalogue {
  readonly toolsets: readonly Toolset[];
  readonly listings: readonly ToolListing[];
  /** Names of tools that are enabled but not listed. */
  readonly unlisted: readonly string[];
  find(name: string): EnabledTool | undefined;
  /** True if the tool exists but is disabled here. */
  isDisabled(name: string): boolean;
}

const nameCharsMax = 64;

export function createCatalogue(toolsets: readonly Toolset[], options: CatalogueOptions): Catalogue {
  const enabled = new Map<string, EnabledTool>();
  const disabled = new Set<string>();
  const disabledNames = new Set(options.disabledTools.map((name) => name.toLowerCase()));
  for (const toolset of toolsets) {
    for (const tool of toolset.tools) {
      assert(/^[a-zA-Z0-9_-]+$/.test(tool.name) && tool.name.length <= nameCharsMax, `invalid tool name ${tool.name}`);
      assert(!enabled.has(tool.name) && !disabled.has(tool.name), `two tools are named ${tool.name}`);
      if ((options.readOnly && tool.effect !== 'read') || disabledNames.has(tool.name.toLowerCase())) {
        disabled.add(tool.name);
      } else {
        enabled.set(tool.name, enableTool(tool, toolset));
      }
    }
  }
  const { listedTools } = options;
  const listings = once(() =>
    [...enabled].filter(([name]) => listedTools?.has(name) ?? true).map(([, { listing }]) => listing),
  );
  return {
    toolsets,
    get listings() {
      return listings();
    },
    get unlisted() {
      return [...enabled.keys()].filter((name) => listedTools?.has(name) === false);
    },
    find: (name) => enabled.get(name),
    isDisabled: (name) => disabled.has(name),
  };
}

/** Creates parser and listing on first use: describing all schemas would take a fifth of the start-up time. */
function enableTool(tool: Tool, toolset: Toolset): EnabledTool {
  const parser = once(() => createInputParser(tool, toolset));
  const listing = once(() => describeTool(tool, toolset, parser()));
  return {
    tool,
    toolset,
    get parser() {
      return parser();
    },
    get listing() {
      return listing();
    },
  };
}

function once<T extends object>(create: () => T): () => T {
  let created: T | undefined;
  return () => {
    created ??= create();
    return created;
  };
}

function describeTool(tool: Tool, toolset: Toolset, parser: InputParser): ToolListing {
  const reads = tool.effect === 'read';
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: parser.schema,
    outputSchema: describeOutput(tool, toolset),
    annotations: {
      readOnlyHint: reads,
      destructiveHint: tool.effect === 'change',
      idempotentHint: reads || tool.idempotent === true,
      openWorldHint: tool.openWorld === true,
    },
  };
}

/**
 * Returns the schema that clients validate answers against. A call that may become a job returns its result or a job
 * handle. If the toolset reports failures as results, no field is required, because a failure contains only `error`.
 */
function describeOutput(tool: Tool, toolset: Toolset): object {
  const { required, ...shape } = toJsonSchema(tool.output, 'output');
  const result = toolset.failures.as === 'result' || required === undefined ? shape : { ...shape, required };
  if (!mayBecomeJob(tool, toolset)) return result;
  return { type: 'object', anyOf: [result, toJsonSchema(jobHandle, 'output')] };
}

const jobHandle = z.object({
  jobId: z.string(),
  state: z.string(),
  message: z.string(),
});
