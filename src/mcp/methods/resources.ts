import { answerBytesDefault, checkAnswer, envelopeBytes } from '../../answers/answer-limit.ts';
import { CarrelError } from '../../base/errors.ts';
import type { CallJobs } from '../../jobs/call-jobs.ts';
import type { Call } from '../../tools/call.ts';
import type { ResourceContents, ResourcePage, ResourceProvider } from '../../tools/resource.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { runOrBecomeJob } from '../tasks/slow-calls.ts';
import type { Gates } from './gates.ts';
import type { IncomingCall } from './incoming-call.ts';

export type Resources = ReturnType<typeof createResources>;

const uriCharsMax = 8192;

/** Merges the resources of all providers into one list. A page has resources of one provider; the cursor has its number. */
export function createResources(
  toolsets: readonly Toolset[],
  jobs: CallJobs,
  gates: Gates,
  answerBytesMax: number = answerBytesDefault,
) {
  const bounded = <Answer>(answer: Answer): Answer =>
    checkAnswer(answer, answerBytesMax - envelopeBytes, { copies: 1 });
  const owners = toolsets.flatMap((toolset) => (toolset.resources ?? []).map((provider) => ({ provider, toolset })));

  const listFrom = async (index: number, cursor: string | undefined, call: Call): Promise<ResourcePage> => {
    const owner = owners[index];
    if (owner === undefined) return { resources: [] };
    const { provider, toolset } = owner;
    const page = await gates.pass(toolset, call.signal, () => provider.list(cursor, { ...call, answerBytesMax }));
    if (page.nextCursor !== undefined) return { ...page, nextCursor: `${index}.${page.nextCursor}` };
    if (index + 1 >= owners.length) return page;
    if (page.resources.length === 0) return listFrom(index + 1, undefined, call);
    return { ...page, nextCursor: `${index + 1}.` };
  };

  const templates = owners.flatMap(({ provider }) => provider.templates);
  let patterns: { pattern: RegExp; mimeType: string }[] | undefined;

  const watched = owners.filter(({ provider }) => provider.fingerprint !== undefined);
  const fingerprintOf = async ({ provider, toolset }: Owner, uri: string | undefined, call: Call): Promise<string> => {
    const fingerprint = async () => (await provider.fingerprint?.(uri, call)) ?? '';
    return gates.pass(toolset, call.signal, fingerprint);
  };

  return {
    any: owners.length > 0,
    /** True if any resource can be subscribed to. */
    watchable: watched.length > 0,
    /** Returns a fingerprint that changes with the resource; see `ResourceProvider`. Undefined if it can't be subscribed to. */
    async fingerprint(uri: string | undefined, call: Call): Promise<string | undefined> {
      if (uri === undefined) {
        if (watched.length === 0) return undefined;
        return (await Promise.all(watched.map((owner) => fingerprintOf(owner, undefined, call)))).join('\n');
      }
      const owner = watched.find(({ provider }) => uri.startsWith(provider.uriPrefix));
      return owner && fingerprintOf(owner, uri, call);
    },
    templates,
    /** Returns the resource's MIME type; undefined if no template matches. */
    mimeTypeOf(uri: string): string | undefined {
      patterns ??= templates.map(({ uriTemplate, mimeType }) => ({ pattern: patternOf(uriTemplate), mimeType }));
      return patterns.find(({ pattern }) => pattern.test(uri))?.mimeType;
    },
    async list(rawCursor: unknown, call: Call): Promise<ResourcePage> {
      const { index, cursor } = readCursor(rawCursor, owners.length);
      return bounded(await listFrom(index, cursor, call));
    },
    async read(params: Record<string, unknown>, call: IncomingCall): Promise<ResourceContents> {
      const { uri, cursor } = readTarget(params);
      const owner = owners.find(({ provider }) => uri.startsWith(provider.uriPrefix));
      if (owner === undefined) {
        const message = 'No resource has this URI. It may have been deleted; list or search again.';
        throw new CarrelError('resource_not_found', message, { data: { uri } });
      }
      const { provider, toolset } = owner;
      const reading = cursor === undefined ? { uri } : { uri, cursor };
      const outcome = await runOrBecomeJob(
        (running, started) => {
          const work = async () => bounded(await provider.read(reading, { ...running, answerBytesMax }));
          return gates.pass(toolset, running.signal, work, started);
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
      const owner = owners.find(({ provider }) => hasTemplate(provider, uriTemplate));
      if (owner?.provider.complete === undefined) return [];
      const { provider, toolset } = owner;
      const complete = async () => (await provider.complete?.(uriTemplate, variable, typed, call)) ?? [];
      return gates.pass(toolset, call.signal, complete);
    },
  };
}

interface Owner {
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
  const question = uri.indexOf('?cursor=');
  const inUri = question === -1 ? undefined : decode(uri.slice(question + '?cursor='.length));
  const found = cursor ?? inMeta ?? inUri;
  if (found !== undefined && typeof found !== 'string') {
    throw new CarrelError('invalid_cursor', 'cursor must be the string from an earlier answer.');
  }
  return { uri: question === -1 ? uri : uri.slice(0, question), cursor: found };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new CarrelError('invalid_cursor', 'The cursor in the URI is not properly percent-encoded.');
  }
}
