import { isCarrelError } from '../../base/errors.ts';
import { readRequest, type SourceRequest } from '../../crawl/web-sources.ts';
import { tagsToStore } from '../../toolsets/kb/inputs/collections.ts';
import type { CommandLine } from '../command-line.ts';
import { printableLine } from '../terminal/printable.ts';
import { printJson } from '../tool-commands/show.ts';
import { usageError } from '../usage-error.ts';
import { followRuns } from './follow-runs.ts';
import { withSources } from './open-sources.ts';

/** Flags that apply to URLs only. */
export const webFlags = ['site', 'sitemap', 'feed', 'depth', 'pages', 'refresh', 'version', 'wait'];
const fileFlags = ['watch', 'no-gitignore'];

export function isUrl(word: string): boolean {
  return /^https?:\/\//i.test(word);
}

/** `carrel add <url…>`: adds pages, sites and feeds to the knowledge base. A single page is fetched right away. */
export async function addWeb(line: CommandLine): Promise<void> {
  const { flags, args } = line;
  const file = args.find((word) => !isUrl(word));
  if (file !== undefined) throw usageError('Add files and URLs with separate commands.');
  const unsupported = fileFlags.find((name) => flags[name] === true);
  if (unsupported !== undefined) throw usageError(`--${unsupported} is for files and folders.`);
  const requests = args.map((url) => requestOf(line, url));
  const isPage = flags['site'] !== true && flags['sitemap'] !== true && flags['feed'] !== true;
  const waits = flags['wait'] === true || isPage;
  await withSources(line, waits, async ({ sources, engine }) => {
    const added = [];
    for (const request of requests) added.push(await sources.add(request));
    if (waits) {
      await followRuns(
        line,
        engine,
        added.map(({ url, job_id: job }) => ({ url, job })),
      );
      return;
    }
    if (flags['json'] === true) return printJson({ sources: added });
    for (const { url, source_id: id, job_id: job } of added) {
      process.stdout.write(`${printableLine(`queued ${url} as source ${id} (job ${job})`)}\n`);
    }
    process.stderr.write(
      'carrel: a running server will fetch it; to fetch it here, run carrel sources refresh --all --wait\n',
    );
  });
}

function requestOf({ flags, lists }: CommandLine, url: string): SourceRequest {
  const text = (name: string): string | undefined => (typeof flags[name] === 'string' ? flags[name] : undefined);
  const number = (name: string): number | undefined => (text(name) === undefined ? undefined : Number(text(name)));
  const namedTags = (lists['tags'] ?? []).flatMap((names) => names.split(',').map((name) => name.trim()));
  try {
    const tags = tagsToStore({ collection: text('collection'), tags: [...(lists['tag'] ?? []), ...namedTags] });
    const request: SourceRequest = {
      url,
      tags,
      depth: number('depth'),
      pages: number('pages'),
      refresh: text('refresh'),
      version: text('version'),
      site: flags['site'] === true,
      sitemap: flags['sitemap'] === true,
      feed: flags['feed'] === true,
      include: lists['include'],
      exclude: lists['exclude'],
    };
    readRequest(request);
    return request;
  } catch (error) {
    throw isCarrelError(error) ? usageError(error.message) : error;
  }
}
