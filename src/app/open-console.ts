import { statfs } from 'node:fs/promises';
import { asCaller } from '../base/current-caller.ts';
import { CarrelError } from '../base/errors.ts';
import { version } from '../base/package-info.ts';
import { type Principal, principalKey } from '../base/rights.ts';
import { scrubSecrets } from '../base/secret.ts';
import type { Config, Setting } from '../config/load.ts';
import { httpSlice, toolsSlice } from '../config/slices.ts';
import { type Activity, createActivity } from '../console/activity.ts';
import { queryOf, resultsOf } from '../console/call-summary.ts';
import { type ClientIdentity, type Clients, createClients } from '../console/clients.ts';
import { type ConsoleDeps, type ConsoleVisitor, createConsole } from '../console/console.ts';
import { type ConsoleTools, read } from '../console/console-tools.ts';
import type { ServerFacts } from '../console/pages/sources.ts';
import type { PageHandler } from '../mcp/http/service.ts';
import type { ServerFeatures } from '../mcp/server-features.ts';
import { ToolFailure } from '../mcp/wire-errors.ts';
import { readLastBackup } from '../storage/backup/last-backup.ts';
import type { ToolCall } from '../telemetry/recorder.ts';
import { type Caller, type ClientName, localUser } from '../tools/call.ts';
import { toolsetNames } from './toolsets.ts';

/** Creates the console. Returns its pages, and the server features extended so that the console sees the clients. */
export function openConsole(
  config: Config,
  features: ServerFeatures,
  snippets: ConsoleDeps['snippets'],
  tokens: ConsoleDeps['tokens'],
): { served: ServerFeatures; pages: PageHandler } {
  const { path } = config.of(httpSlice);
  const startedAt = Date.now();
  const activity = createActivity();
  const clients = createClients();
  const toolsFor = ({
    principal,
    address,
    origin,
    signal,
  }: ConsoleVisitor & { principal: Principal }): ConsoleTools => {
    const { catalogue, callTool } = features.scopedTo(principal.rights).forConsole();
    return {
      has: (name) => catalogue.find(name) !== undefined,
      names: () => catalogue.toolsets.flatMap(({ tools }) => tools.map(({ name }) => name)),
      async original(id) {
        const toolset = catalogue.toolsets.find(({ original }) => original !== undefined);
        if (toolset?.original === undefined)
          throw new CarrelError('document_not_found', 'This server has no knowledge base.');
        return await toolset.original(id, signal);
      },
      async call(name, args) {
        const caller: Caller = {
          ...principal,
          id: `${consoleCallerPrefix}${principal === localUser ? address : principal.identity}`,
          owner: `${consoleCallerPrefix}${principalKey(principal)}`,
          authenticated: true,
          serverOrigin: origin,
        };
        const log = features.log.with({ caller: caller.name });
        const call = { caller, signal, report() {}, log, keepCancellable: () => () => {} };
        // A page waits for the result, so a slow tool must not return a job instead.
        const wait = catalogue.find(name)?.toolset.slowCallMs === undefined ? {} : { wait: true };
        try {
          return { ...(await asCaller(caller.id, () => callTool(name, { ...args, ...wait }, call))) };
        } catch (failure) {
          throw failure instanceof ToolFailure ? failure.error : failure;
        }
      },
    };
  };
  const { signal } = new AbortController();
  const wake = createSampler(activity, toolsFor({ principal: localUser, address: '', origin: '', signal }));
  features.recorder?.onCall((call) => {
    // Skips the console's own calls.
    if (call.caller.id.startsWith(consoleCallerPrefix)) return;
    recordCall(call, activity, clients);
    wake();
  });
  const onClient: ServerFeatures['onClient'] = (client, caller) =>
    clients.connected(identityOf(client, caller), Date.now());
  const served: ServerFeatures = {
    ...features,
    onClient,
    scopedTo: (rights) => ({ ...features.scopedTo(rights), onClient }),
  };
  const console = createConsole(
    {
      isReadOnly: config.of(toolsSlice).readOnly,
      dataDir: config.dataDir,
      settings: config.settings.map(({ path: name, printable, source }) => ({
        path: name,
        value: textOf(printable),
        source,
      })),
      mcpPath: path,
    },
    {
      activity,
      clients,
      snippets,
      tokens,
      toolsetNames,
      facts: () => factsOf(config.dataDir, startedAt),
      log: features.log,
      tools: ({ principal = localUser, ...visitor }) => toolsFor({ ...visitor, principal }),
    },
  );
  return {
    served,
    pages(request, response, auth) {
      wake();
      return console.handle(request, response, auth);
    },
  };
}

async function factsOf(dataDir: string, startedAt: number): Promise<ServerFacts> {
  const disk = await statfs(dataDir).catch(() => undefined);
  return {
    version,
    startedAt,
    memoryBytes: process.memoryUsage.rss(),
    dataDir,
    freeBytes: disk && disk.bavail * disk.bsize,
    lastBackup: readLastBackup(dataDir),
  };
}

const sampleEveryMs = 60_000;
/** Delay of the first sample, so that the first calls finish before it. */
const firstSampleMs = 1_000;

/** Returns a function that starts to sample queue and storage every minute. It is called when the server is first used. */
function createSampler(activity: Activity, tools: ConsoleTools): () => void {
  let hasStarted = false;
  const sample = async (): Promise<void> => {
    const status = await tools.call('kb_status', {});
    const queue = read.object(status, 'queue');
    activity.sample({
      at: Date.now(),
      queue: (read.number(queue, 'queued') ?? 0) + (read.number(queue, 'processing') ?? 0),
      storageBytes: read.number(read.object(status, 'storage'), 'bytes') ?? 0,
    });
  };
  // An unreachable engine leaves a gap in the samples.
  const trySample = (): void => void sample().catch(() => {});
  return () => {
    if (hasStarted || !tools.has('kb_status')) return;
    hasStarted = true;
    setTimeout(trySample, firstSampleMs).unref();
    setInterval(trySample, sampleEveryMs).unref();
  };
}

function textOf(printable: Setting['printable']): string {
  if (printable === undefined || printable === null) return '–';
  return scrubSecrets(Array.isArray(printable) ? printable.join(', ') : String(printable));
}

function identityOf({ name, version }: ClientName, caller: ToolCall['caller']): ClientIdentity {
  return {
    name,
    version,
    caller: callerName(caller),
    transport: caller.serverOrigin === undefined ? 'stdio' : 'http',
  };
}

/** Returns the token's name or, without a token, the address or connection. */
function callerName({ id, name, authenticated }: ToolCall['caller']): string {
  return authenticated === true ? `token ${name}` : id.replace(/^address /, '');
}

function recordCall(call: ToolCall, activity: Activity, clients: Clients): void {
  const { at, tool, caller, client, args, ms, outcome, answer } = call;
  const tokens = Math.ceil((JSON.stringify(answer)?.length ?? 0) / charsPerToken);
  activity.record({
    at,
    tool,
    ms,
    tokens,
    outcome,
    caller: callerName(caller),
    client: client?.name ?? '',
    query: queryOf(args),
    results: resultsOf(answer),
    owner: caller.authenticated ? caller.owner : undefined,
  });
  if (client) clients.called(identityOf(client, caller), { tool, failed: outcome !== 'ok', at });
}

/** Prefix of the console's own caller ids. */
const consoleCallerPrefix = 'console ';
const charsPerToken = 4;
