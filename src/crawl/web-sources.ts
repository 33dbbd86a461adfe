import { CarrelError } from '../base/errors.ts';
import { createGlob } from '../base/glob.ts';
import { collectionOf, isCollectionTag } from '../engine/collection-tag.ts';
import type { Storage } from '../storage/storage.ts';
import type { ListedSource, SourceSettings } from '../storage/web/sources.ts';
import { normaliseUrl, urlCharsMax } from './address.ts';
import { type PageEngine, removeDocument } from './store-page.ts';

export interface SourceRequest {
  readonly url: string;
  /** The first one is the tag of the collection. */
  readonly tags: readonly string[];
  /** Only for a single page. Default: the page's own title. */
  readonly title?: string | undefined;
  readonly site?: boolean | undefined;
  readonly sitemap?: boolean | undefined;
  readonly feed?: boolean | undefined;
  readonly depth?: number | undefined;
  readonly pages?: number | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  /** `daily`, `weekly`, `never` or a number of hours. */
  readonly refresh?: string | undefined;
  /** Version of the library that the pages document. Stored as the tag `version:…`. */
  readonly version?: string | undefined;
}

/** A source as shown to people and agents. */
export type ShownSource = ReturnType<typeof showSource>;

export type WebSources = ReturnType<typeof createWebSources>;

export interface WebSourcesDeps {
  readonly storage: Pick<Storage, 'web' | 'shared'>;
  readonly engine: PageEngine;
  /** Called when there is a run to perform. */
  onStarted?(job?: number): void;
}

const depthDefault = 3;
const depthMax = 50;
const pagesDefault = 1_000;
const pagesMax = 20_000;
const patternsMax = 50;
const patternCharsMax = 200;
const refreshHoursMax = 8_760;

export function createWebSources({ storage, engine, onStarted }: WebSourcesDeps) {
  const { web, shared } = storage;
  const announceRun = (job?: number): void => {
    shared?.notify({ about: 'work' });
    onStarted?.(job);
  };
  const setPaused = async (id: number, paused: boolean): Promise<void> => {
    const [source] = await web.list({ ids: [id] });
    if (!(await web.pause({ id, paused }))) throw notFound(id);
    // Tells the process that performs the run to end it now.
    if (source?.job !== undefined) shared?.notify({ about: 'job', id: String(source.job) });
    if (!paused) announceRun();
  };
  return {
    /** Stores the source and starts its first run. */
    async add(request: SourceRequest) {
      const { url, tags, settings } = readRequest(request);
      const { source, job, isNew } = await web.add({ url, tags, settings, jitter: 2 * Math.random() - 1 });
      announceRun(job);
      return { source_id: source.id, job_id: job, url, is_new: isNew };
    },
    /** `anyTags` selects the sources with at least one of these tags. */
    list: async (selection: Parameters<typeof web.list>[0] = {}) => (await web.list(selection)).map(showSource),
    /** Starts a run and returns its job id. If a run is queued or running, returns its id. */
    async refresh(id: number): Promise<number> {
      const job = await web.start({ id });
      if (job === undefined) throw notFound(id);
      announceRun(job);
      return job;
    },
    pause: (id: number) => setPaused(id, true),
    resume: (id: number) => setPaused(id, false),
    /** Removes the source. If `documents` is true, also moves its documents to the trash. */
    async remove(id: number, { documents }: { documents: boolean }) {
      const removed = await web.remove({ id });
      if (removed === undefined) throw notFound(id);
      const { signal } = new AbortController();
      if (documents) for (const document of removed.documents) await removeDocument(engine, document, signal);
      const count = removed.documents.length;
      return { url: removed.url, deleted: documents ? count : 0, kept: documents ? 0 : count };
    },
  };
}

/** Validates the whole request before anything is stored. */
export function readRequest(request: SourceRequest): { url: string; tags: string[]; settings: SourceSettings } {
  const { site = false, sitemap = false, feed = false, version } = request;
  const url = normaliseUrl(request.url);
  if (url === undefined) {
    throw invalidArguments(
      `url must be an http or https address without a password, of at most ${urlCharsMax} characters`,
    );
  }
  if (feed && (site || sitemap)) throw invalidArguments('feed cannot be combined with site or sitemap. Choose one');
  const isPage = !site && !sitemap && !feed;
  const siteRefresh = feed ? 'daily' : 'weekly';
  const settings: SourceSettings = {
    follows: site,
    ...(request.title !== undefined && isPage ? { title: request.title } : {}),
    ...(feed ? { listing: 'feed' } : sitemap ? { listing: 'sitemap' } : {}),
    depth: wholeNumber('depth', request.depth ?? depthDefault, 0, depthMax),
    pages: isPage ? singlePageUrlsMax : wholeNumber('pages', request.pages ?? pagesDefault, 1, pagesMax),
    include: patterns('include', request.include),
    exclude: patterns('exclude', request.exclude),
    refreshHours: readRefresh(request.refresh ?? (isPage ? 'never' : siteRefresh)),
  };
  if (version !== undefined && !/^[^\p{Cc},]{1,80}$/u.test(version)) {
    throw invalidArguments('version must have 1 to 80 characters, none of them a comma or a control character');
  }
  return { url, tags: [...request.tags, ...(version === undefined ? [] : [`version:${version}`])], settings };
}

/** Max URLs of a single-page source: the page and its redirects. */
const singlePageUrlsMax = 10;

function readRefresh(text: string): number | null {
  if (text === 'never') return null;
  const namedHours = { daily: 24, weekly: 168 }[text];
  if (namedHours !== undefined) return namedHours;
  const hours = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (hours >= 1 && hours <= refreshHoursMax) return hours;
  throw invalidArguments(`refresh must be daily, weekly, never or a number of hours from 1 to ${refreshHoursMax}`);
}

function patterns(name: string, list: readonly string[] = []): readonly string[] {
  if (list.length > patternsMax || list.some((pattern) => pattern.length > patternCharsMax)) {
    throw invalidArguments(`${name} must have at most ${patternsMax} patterns of ${patternCharsMax} characters`);
  }
  for (const pattern of list) {
    try {
      createGlob(pattern);
    } catch {
      throw invalidArguments(`${name}: ${JSON.stringify(pattern)} is not a pattern such as guide/** or *.html`);
    }
  }
  return list;
}

function wholeNumber(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidArguments(`${name} must be a whole number from ${min} to ${max}`);
}

function showSource(source: ListedSource) {
  const { id, url, tags, settings, pages, documents, lastRun, nextRefresh } = source;
  const { refreshHours, depth, include, exclude } = settings;
  const collection = tags.find(isCollectionTag);
  return {
    source_id: id,
    url,
    mode: modeOf(settings),
    collection: collection === undefined ? null : collectionOf(collection),
    tags: tags.filter((tag) => !isCollectionTag(tag)),
    status: statusOf(source),
    pages,
    documents,
    ...(settings.follows ? { depth } : {}),
    ...(modeOf(settings) === 'page' ? {} : { pages_max: settings.pages }),
    ...(include.length > 0 ? { include } : {}),
    ...(exclude.length > 0 ? { exclude } : {}),
    refresh: refreshHours === null ? 'never' : ({ 24: 'daily', 168: 'weekly' }[refreshHours] ?? `${refreshHours} h`),
    ...(nextRefresh === undefined || source.pausedAt !== undefined ? {} : { next_refresh: nextRefresh }),
    ...(source.job === undefined ? {} : { job_id: source.job }),
    ...(lastRun === undefined ? {} : { last_run: lastRun }),
    created_at: source.createdAt,
  };
}

function statusOf({ isActive, pausedAt }: ListedSource): string {
  if (isActive) return 'refreshing';
  return pausedAt === undefined ? 'idle' : 'paused';
}

function modeOf({ follows, listing }: SourceSettings): string {
  return listing ?? (follows ? 'site' : 'page');
}

function notFound(id: number): CarrelError {
  const message = `No web source has the id ${id}. Run carrel sources to list them.`;
  return new CarrelError('source_not_found', message, { data: { source_id: id } });
}

function invalidArguments(message: string): CarrelError {
  return new CarrelError('invalid_arguments', `${message}.`);
}
