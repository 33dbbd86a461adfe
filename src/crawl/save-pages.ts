import type { PageChange, StoredPage } from '../storage/web/pages.ts';
import type { RunContext } from './run-context.ts';
import { noteLimit } from './run-state.ts';

/** Thrown if the run was cancelled, or now belongs to another process. */
export class RunLost extends Error {
  override readonly name = 'RunLost';
}

export interface FoundLinks {
  readonly urls: readonly string[];
  readonly depth: number;
}

interface More extends Partial<FoundLinks> {
  /** Keys of pages that are no longer part of the source. */
  readonly removed?: readonly number[];
}

/** Saves a page's outcome and links. Writes nothing if both are unchanged. */
export async function savePage(
  context: RunContext,
  page: StoredPage,
  changes: readonly PageChange[],
  { urls = [], depth = 0, removed }: More = {},
): Promise<void> {
  const isSame = changes.every((change) => change.url === page.url && isUnchanged(page, change));
  if (isSame && urls.length === 0 && removed === undefined) return;
  await savePages(context, changes, urls.length === 0 ? undefined : { urls, depth }, removed);
}

/** Saves pages with the progress of the run. Throws `RunLost` if the run no longer belongs to this process. */
export async function savePages(
  context: RunContext,
  pages: readonly PageChange[],
  found?: FoundLinks,
  removed?: readonly number[],
): Promise<void> {
  const { web, owner, run, state } = context;
  const { id, source } = run;
  const pagesMax = source.settings.listing === 'feed' ? Number.MAX_SAFE_INTEGER : source.settings.pages;
  const saved = await web.save({
    ...{ id, owner, source: source.id, pages, removed, progress: context.progress() },
    links: found && { ...found, pagesMax },
  });
  if (saved === undefined) throw new RunLost();
  if (saved.dropped > 0) noteLimit(state, 'pages');
}

const comparedFacts = ['state', 'document', 'etag', 'lastModified', 'textHash', 'target', 'failures'] as const;

function isUnchanged(page: StoredPage, change: PageChange): boolean {
  const isRetried = page.retryAt !== undefined || change.retryMs !== undefined;
  return !isRetried && comparedFacts.every((fact) => page[fact] === change[fact]);
}
