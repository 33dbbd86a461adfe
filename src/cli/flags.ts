/** Describes one flag, for parsing, help, completion and docs. */
export interface FlagDescription {
  readonly name: string;
  readonly short?: string;
  /** A flag of type `list` may be repeated. */
  readonly type: 'string' | 'boolean' | 'list';
  /** The value's placeholder in help. */
  readonly value?: string;
  readonly summary: string;
  /** The allowed values. */
  readonly choices?: readonly string[];
  /** What the shell completes for the value. */
  readonly completes?: 'files' | 'folders';
}

export const toggle = (name: string, summary: string, short?: string): FlagDescription => ({
  name,
  type: 'boolean',
  summary,
  ...(short === undefined ? {} : { short }),
});

export const valueFlag = (
  name: string,
  value: string,
  summary: string,
  options: Partial<FlagDescription> = {},
): FlagDescription => ({ name, type: 'string', value, summary, ...options });

/** Describes a flag that may be repeated. */
export const listFlag = (name: string, value: string, summary: string): FlagDescription => ({
  ...valueFlag(name, value, summary),
  type: 'list',
});

export const commonFlags: readonly FlagDescription[] = [
  valueFlag('config', 'file', 'configuration file (default: config.json in the data folder)', { completes: 'files' }),
  valueFlag('data-dir', 'folder', 'data folder (default ~/.carrel)', { completes: 'folders' }),
  toggle('debug', 'log at debug level, to the log file and to stderr'),
  toggle('help', 'show help', 'h'),
  toggle('version', 'show the version', 'v'),
];

export const readOnlyFlag = toggle('read-only', 'offer only tools that change nothing');

export const transportFlags: readonly FlagDescription[] = [
  valueFlag(
    'transport',
    'stdio|http',
    'how clients connect (default: http for research, kb and engine, otherwise stdio)',
    {
      choices: ['stdio', 'http'],
    },
  ),
  valueFlag('host', 'address', 'address to listen on (default 127.0.0.1)'),
  valueFlag('port', 'number', 'port to listen on; 0 picks a free one'),
];

export const aloneFlag = toggle('alone', "don't share a process with other stdio clients");

/** Flags for roles that speak MCP. */
export const serverFlags: readonly FlagDescription[] = [
  ...transportFlags,
  toggle('cody', 'speak only MCP revision 2024-11-05, for older clients such as Sourcegraph Cody'),
  readOnlyFlag,
  aloneFlag,
];

/** Flags that choose what the engine does. Without any of them, it does all three. */
export const engineRoleFlags: readonly FlagDescription[] = [
  toggle('ingest', 'ingest submitted files and notes'),
  toggle('embed', 'create the vectors for semantic search'),
  toggle('search', 'answer searches'),
];

export const toolsetsFlag = valueFlag('toolsets', 'a,b,c', 'toolsets to offer (default: all that are configured)');

export const toolsFlag = valueFlag('tools', 'essential|all', 'tools to list (default all)', {
  choices: ['essential', 'all'],
});

/** A flag for roles that have the knowledge base. */
export const allowFlag = valueFlag('allow', 'folders', 'stdio only: folders whose files agents may add by path', {
  completes: 'folders',
});

export const jsonFlag = toggle('json', 'print JSON');
export const verboseFlag = toggle('verbose', 'show which process answered');
export const collectionFilter = valueFlag('collection', 'name', 'only documents in this collection');
export const tagFlag = listFlag('tag', 'tag', 'tag to store; can be repeated');
export const tagFilter = listFlag('tag', 'tag', 'only items with this tag; can be repeated');
export const limitFlag = valueFlag('limit', 'number', 'max number of results');
export const offsetFlag = valueFlag('offset', 'number', 'number of results to skip');
export const openFlag = toggle('open', "open the document's file in the default program");

export const addFlags: readonly FlagDescription[] = [
  toggle('watch', 'keep the knowledge base in sync with the folders until stopped'),
  valueFlag('collection', 'name', 'collection for the documents (default "documents")'),
  tagFlag,
  listFlag('include', 'pattern', 'only matching files or pages, such as "*.md"; can be repeated'),
  listFlag('exclude', 'pattern', 'skip matching files or pages, such as "drafts/**"; can be repeated'),
  toggle('no-gitignore', 'include files that .gitignore excludes'),
];

/** Flags of `carrel add` for URLs. */
export const webPageFlags: readonly FlagDescription[] = [
  listFlag('tags', 'a,b,c', 'tags to store, separated by commas'),
  toggle('site', 'add the pages below the URL, by following links'),
  toggle('sitemap', 'add the pages in the sitemap of the URL'),
  toggle('feed', 'add the entries of the RSS, Atom or JSON feed at the URL'),
  valueFlag('depth', 'number', 'with --site: max link depth from the first page (default 3)'),
  valueFlag('pages', 'number', 'max pages per source (default 1000)'),
  valueFlag(
    'refresh',
    'interval',
    'how often to fetch again: daily, weekly, never or a number of hours (default: feeds daily, single pages never, others weekly)',
  ),
  valueFlag('version', 'version', 'version that the pages document, such as 2.1; adds the tag version:<version>'),
  toggle('wait', 'fetch in this process and show progress until done'),
];

/** Returns the index of the command, which may follow common flags: `carrel --data-dir x doctor`. Undefined if none is named. */
export function commandIndex(argv: readonly string[]): number | undefined {
  let index = 0;
  for (let flag = globalFlag(argv[index]); flag !== undefined; flag = globalFlag(argv[index])) {
    index += flag.type === 'boolean' || argv[index]?.includes('=') === true ? 1 : 2;
  }
  return argv[index] === undefined || argv[index]?.startsWith('-') ? undefined : index;
}

function globalFlag(word: string | undefined): FlagDescription | undefined {
  return commonFlags.find(({ name, short }) => word?.split('=', 1)[0] === `--${name}` || word === `-${short}`);
}
