import { scrubSecrets } from '../base/secret.ts';
import type { Config, Setting } from '../config/load.ts';
import { httpSlice, toolsSlice } from '../config/slices.ts';
import { type Activity, createActivity } from '../console/activity.ts';
import { createConsole } from '../console/console.ts';
import type { ConsoleTools } from '../console/console-tools.ts';
import { type CallTool, ToolFailure } from '../mcp/call-tool.ts';
import type { PageHandler } from '../mcp/http/service.ts';
import type { Offer } from '../mcp/protocol-server.ts';
import { type Caller, localUser } from '../tools/call.ts';

/** The console over what clients are offered, and the offer with its calls counted for the console. */
export function openConsole(config: Config, offer: Offer): { served: Offer; pages: PageHandler } {
  const { authToken, path } = config.of(httpSlice);
  const activity = createActivity();
  const served: Offer = { ...offer, callTool: counted(offer, activity) };
  const console = createConsole(
    {
      needsToken: authToken !== undefined,
      isReadOnly: config.of(toolsSlice).readOnly,
      dataDir: config.dataDir,
      settings: config.settings.map(({ path: name, shown, source }) => ({ path: name, value: textOf(shown), source })),
      mcpPath: path,
    },
    {
      activity,
      log: offer.log,
      tools: ({ principal = localUser, address, origin, signal }): ConsoleTools => ({
        has: (name) => offer.catalogue.find(name) !== undefined,
        async call(name, args) {
          const caller: Caller = {
            ...principal,
            id: `console ${address}`,
            owner: `console ${principal.name}`,
            authenticated: true,
            reachedAt: origin,
          };
          const call = { caller, signal, report() {}, log: offer.log, keepCancellable: () => () => {} };
          // A page waits for its answer; nobody would ask for a job later.
          const wait = offer.catalogue.find(name)?.toolset.slowCallMs === undefined ? {} : { wait: true };
          try {
            return { ...(await offer.callTool(name, { ...args, ...wait }, call)) };
          } catch (failure) {
            throw failure instanceof ToolFailure ? failure.error : failure;
          }
        },
      }),
    },
  );
  return { served, pages: console.handle };
}

function textOf(shown: Setting['shown']): string {
  if (shown === undefined || shown === null) return '–';
  return scrubSecrets(Array.isArray(shown) ? shown.join(', ') : String(shown));
}

function counted({ callTool, catalogue }: Offer, activity: Activity): CallTool {
  return async (tool, given, call) => {
    const [at, start] = [Date.now(), performance.now()];
    const record = (outcome: string, answer: unknown): void =>
      activity.record({
        at,
        // A name that is no tool's may be anything, as long as a message can be, and a new one each time.
        tool: catalogue.find(tool) === undefined ? unknownTool : tool,
        caller: call.caller.id,
        ms: performance.now() - start,
        tokens: Math.ceil(charsOf(answer) / charsPerToken),
        outcome,
      });
    try {
      const answer = await callTool(tool, given, call);
      record('ok', answer);
      return answer;
    } catch (failure) {
      record(failure instanceof ToolFailure ? failure.error.code : 'internal_error', undefined);
      throw failure;
    }
  };
}

const unknownTool = '(unknown)';
const charsPerToken = 4;

/** About how long an answer is as JSON, without making it: it is made once, elsewhere. */
function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + charsOf(each) + 1, 2);
  if (typeof value !== 'object' || value === null) return 5;
  return Object.entries(value).reduce((sum, [name, each]) => sum + name.length + 4 + charsOf(each), 2);
}
