import type { Logger } from '../base/log.ts';
import type { Config } from '../config/load.ts';
import { createCallJobs } from '../jobs/call-jobs.ts';
import { ToolFailure } from '../mcp/wire-errors.ts';
import { type Call, localUser } from '../tools/call.ts';
import type { ResourceContents } from '../tools/resource.ts';
import { loadRoleConfig, prepareRole } from './program.ts';
import type { Flags, Role } from './role.ts';
import { createRoleFeatures } from './role-features.ts';
import { createSharedServices } from './shared-services.ts';

/** A role's tools in this process, without a client. */
export interface ToolSession {
  readonly config: Config;
  /** Returns the `structuredContent`; throws on failure. */
  call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>>;
  read(uri: string, cursor?: string): Promise<ResourceContents>;
  close(): Promise<void>;
}

/** Opens a role's tools. Calls get the same checks, limits and errors as those of clients. */
export async function openToolSession(baseRole: Role, flags: Flags, log: Logger): Promise<ToolSession> {
  const role = await prepareRole(baseRole, flags);
  const config = loadRoleConfig(role, flags);
  role.check?.(config);
  const jobs = createCallJobs();
  const toolsets = await role.openToolsets(config, log, jobs, createSharedServices(config, log));
  const features = createRoleFeatures(role, config, log, toolsets, { jobs });
  const call: Call = {
    caller: { ...localUser, id: 'command-line', owner: 'command-line', authenticated: true },
    signal: new AbortController().signal,
    report() {},
    log,
  };
  const incoming = { ...call, keepCancellable: () => () => {} };
  return {
    config,
    async call(name, args) {
      try {
        // Waits for slow calls, because there is no client that could poll a job.
        const wait = features.catalogue.find(name)?.toolset.slowCallMs === undefined ? {} : { wait: true };
        return { ...(await features.callTool(name, { ...args, ...wait }, incoming)) };
      } catch (failure) {
        throw failure instanceof ToolFailure ? failure.error : failure;
      }
    },
    read: (uri, cursor) => features.resources.read({ uri, ...(cursor === undefined ? {} : { cursor }) }, incoming),
    async close() {
      await Promise.all(toolsets.map((toolset) => toolset.close?.()));
    },
  };
}
