import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isCarrelError } from '../base/errors.ts';
import type { ExtractedDocument } from '../documents/document.ts';
import type { FetchResponse } from '../web/safe-fetch.ts';
import { folderOf } from './address.ts';
import { fetchPage } from './fetch-page.ts';
import { isNearDuplicate, type Sketch, sketchOf } from './near-duplicates.ts';
import type { RunContext } from './run-context.ts';

/** Returns the extracted document, or the error code. Adds the CPU time used to the run's total. */
export async function extractPage(
  { extractor, signal, state }: RunContext,
  { body, url, contentType }: FetchResponse,
): Promise<ExtractedDocument | string> {
  const addCpu = (ms: number): void => {
    state.cpuMs += ms;
    state.summary.cpu_seconds = Math.round(state.cpuMs / 100) / 10;
  };
  const type = contentType === undefined ? {} : { contentType };
  // These options match the engine's, so that an unchanged text here means an unchanged document there.
  const page = { bytes: body, url, mode: 'markdown', extent: 'page', links: true, ...type } as const;
  for (;;) {
    try {
      const document = await extractor.extract(page, { signal });
      addCpu(document.cpuMs ?? 0);
      return document;
    } catch (error) {
      signal.throwIfAborted();
      if (!isCarrelError(error) || error.code === 'unavailable') throw error;
      if (error.code !== 'too_many_in_flight') {
        const { cpuMsMax } = error.data;
        addCpu(typeof cpuMsMax === 'number' ? cpuMsMax : 0);
        return error.code;
      }
      await delay(200, undefined, { signal });
    }
  }
}

/** Removes link URLs from the text: some sites put a new session id into them on each request. */
export function visibleText(markdown: string): string {
  return markdown.replaceAll(/\]\((?:[^()\s]|\([^()\s]*\))*\)/g, ']');
}

/**
 * Creates the check for soft 404s: pages with nearly the same text as a nonexistent URL in the source's folder. Applies only to
 * sites and sitemaps.
 */
export function createNotFoundCheck(context: RunContext) {
  const { run, signal, state, fetch } = context;
  const { follows, listing } = run.source.settings;
  const probes = new Map<string, Promise<Sketch | undefined>>();
  const probe = async (url: string): Promise<Sketch | undefined> => {
    const host = await context.hostOf(url);
    if (!(await host.robots(signal)).allows(url)) return undefined;
    const fetched = await host.request(signal, () => fetchPage(fetch, url, { validators: {}, signal }));
    const document = fetched.outcome === 'page' ? await extractPage(context, fetched.response) : undefined;
    return typeof document === 'object' ? sketchOf(visibleText(document.text)) : undefined;
  };
  return async (url: string, sketch: Sketch): Promise<boolean> => {
    if (!follows && listing !== 'sitemap') return false;
    const folder = folderOf(state.root);
    if (!url.startsWith(folder)) return false;
    const probing = probes.get(folder) ?? probe(`${folder}carrel-${randomBytes(8).toString('hex')}`);
    probes.set(folder, probing);
    const notFound = await probing;
    return notFound !== undefined && isNearDuplicate(notFound, sketch);
  };
}
