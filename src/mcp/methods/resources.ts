import { answerBytesDefault, checkAnswer, envelopeBytes } from '../../answers/answer-limit.ts';
import { CarrelError } from '../../base/errors.ts';
import type { CallJobs } from '../../jobs/call-jobs.ts';
import type { Call } from '../../tools/call.ts';
import type { ResourceContents, ResourcePage, ResourceProvider } from '../../tools/resource.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { runOrBecomeJob } from '../tasks/slow-calls.ts';
import type { CallSlots } from './call-slots.ts';
import type { IncomingCall } from './incoming-call.ts';

export type Resources = ReturnType<typeof createResources>;

const uriCharsMax = 8192;

/** Merges the resources of all providers into one list. A page has resources of one provider, whose index starts the cursor. */
export function createResources(
  toolsets: readonly Toolset[],
  jobs: CallJobs,
  callSlots: CallSlots,
  answerBytesMax: number = answerBytesDefault,
) {
  const checkSize = <Answer>(answer: Answer): Answer =>
    checkAnswer(answer, answerBytesMax - envelopeBytes, { copies: 1 });
  const entries = toolsets.flatMap((toolset) => (toolset.resources ?? []).map((provider) => ({ provider, toolset })));

  const listFrom = async (index: number, cursor: string | undefined, call: Call): Promise<ResourcePage> => {
    const entry = entries[index];
    if (entry === undefined) return { resources: [] };
    const { provider, toolset } = entry;
    const page = await callSlots.run(toolset, call.signal, () => provider.list(cursor, { ...call, answerBytesMax }));
    if (page.nextCursor !== undefined) return { ...page, nextCursor: `${index}.${page.nextCursor}` };
    if (index + 1 >= entries.length) return page;
    if (page.resources.length === 0) return listFrom(index + 1, undefined, call);
    return { ...page, nextCursor: `${index + 1}.` };
  };

  const templates = entries.flatMap(({ provider }) => provider.templates);
  let patterns: { pattern: RegExp; mimeType: string }[] | undefined;

  const watchableEntries = entries.filter(({ provider }) => provider.fingerprint !== undefined);
  const fingerprintOf = async (
    { provider, toolset }: ProviderEntry,
    uri: string | undefined,
    call: Call,
  ): Promise<string> => {
    const fingerprint = async () => (await provider.fingerprint?.(uri, call)) ?? '';
    return callSlots.run(toolset, call.signal, fingerprint);
  };

  return {
    hasAny: entries.length > 0,
    /** True if any resource can be subscribed to. */
    canWatch: watchableEntries.length > 0,
    /** Returns a fingerprint that changes with the resource; see `ResourceProvider`. Undefined if it can't be subscribed to. */
    async fingerprint(uri: string | undefined, call: Call): Promise<string | undefined> {
      if (uri === undefined) {
        if (watchableEntries.length === 0) return undefined;
        return (await Promise.all(watchableEntries.map((entry) => fingerprintOf(entry, undefined, call)))).join('\n');
      }
      const entry = watchableEntries.find(({ provider }) => uri.startsWith(provider.uriPrefix));
      return entry && fingerprintOf(entry, uri, call);
    },
    templates,
    /** Returns the resource's MIME type; undefined if no template matches. */
    mimeTypeOf(uri: string): string | undefined {
      patterns ??= templates.map(({ uriTemplate, mimeType }) => ({ pattern: patternOf(uriTemplate), mimeType }));
      return patterns.find(({ pattern }) => pattern.test(uri))?.mimeType;
    },
    async list(rawCursor: unknown, call: Call): Promise<ResourcePage> {
      const { index, cursor } = readCursor(rawCursor, entries.length);
      return checkSize(await listFrom(index, cursor, call));
    },
    async read(params: Record<string, unknown>, call: IncomingCall): Promise<ResourceContents> {
      const { uri, cursor } = readTarget(params);
      const entry = entries.find(({ provider }) => uri.startsWith(provider.uriPrefix));
      if (entry === undefined) {
        const message = 'No resource has this URI. It may have been deleted; list or search again.';
        throw new CarrelError('resource_not_found', message, { data: { uri } });
      }
      const { provider, toolset } = entry;
      const target = cursor === undefined ? { uri } : { uri, cursor };
      const outcome = await runOrBecomeJob(
        (running, started) => {
          const work = async () => checkSize(await provider.read(target, { ...running, answerBytesMax }));
          return callSlots.run(toolset, running.signal, work, started);
        },
        call,
        toolset.slowCallMs,
        jobs,
      );
      if (!('handle' in outcome)) return outcome.result;
      const text = JSON.stringify(outcome.handle);
      return { contents: [{ uri, mimeType: 'application/json', text }], _meta: { jobId: outcome.handle.jobId } };
    },
    async complete(uriTemplate: string, variable: string, typed: string, call: Call): Promise<string[]> {
      const entry = entries.find(({ provider }) => hasTemplate(provider, uriTemplate));
      if (entry?.provider.complete === undefined) return [];
      const { provider, toolset } = entry;
      const complete = async () => (await provider.complete?.(uriTemplate, variable, typed, call)) ?? [];
      return callSlots.run(toolset, call.signal, complete);
    },
  };
}

interface ProviderEntry {
  provider: ResourceProvider;
  toolset: Toolset;
}

function hasTemplate(provider: ResourceProvider, uriTemplate: string): boolean {
  return provider.templates.some((template) => template.uriTemplate === uriTemplate);
}

/** Creates a pattern from a template. A variable matches one path segment. */
function patternOf(uriTemplate: string): RegExp {
  const fixed = uriTemplate.split(/\{\w+\}/).map((text) => text.replace(/[^\w/]/g, '\\$&'));
  return new RegExp(`^${fixed.join('[^/?#]+')}$`);
}

function readCursor(raw: unknown, count: number): { index: number; cursor: string | undefined } {
  if (raw === undefined) return { index: 0, cursor: undefined };
  const match = typeof raw === 'string' ? /^(\d{1,3})\.(.*)$/s.exec(raw) : null;
  const index = Number(match?.[1]);
  if (match === null || index >= Math.max(count, 1)) {
    throw new CarrelError('invalid_cursor', 'This cursor was not issued by this list. Start again without one.');
  }
  return { index, cursor: match[2] === '' ? undefined : match[2] };
}

/**
 * Reads the URI, and the cursor from which to continue. The protocol has no field for a cursor, so it may be in
 * `params.cursor`, in `params._meta.cursor`, or in the URI as `?cursor=`.
 */
function readTarget(params: Record<string, unknown>): { uri: string; cursor: string | undefined } {
  const { uri, cursor, _meta: meta } = params;
  if (typeof uri !== 'string') throw new CarrelError('invalid_arguments', 'uri must be a string.');
  if (uri.length > uriCharsMax) {
    throw new CarrelError('invalid_arguments', `uri must have at most ${uriCharsMax} characters.`);
  }
  const inMeta = typeof meta === 'object' && meta !== null && 'cursor' in meta ? meta.cursor : undefined;
  const queryStart = uri.indexOf('?cursor=');
  const inUri = queryStart === -1 ? undefined : decode(uri.slice(queryStart + '?cursor='.length));
  const value = cursor ?? inMeta ?? inUri;
  if (value !== undefined && typeof value !== 'string') {
    throw new CarrelError('invalid_cursor', 'cursor must be the string from an earlier answer.');
  }
  return { uri: queryStart === -1 ? uri : uri.slice(0, queryStart), cursor: value };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new CarrelError('invalid_cursor', 'The cursor in the URI is not properly percent-encoded.');
  }
}
