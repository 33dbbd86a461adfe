/** One flag, from which parsing, help, completion and the docs are made. */
export interface FlagDescription {
  readonly name: string;
  readonly short?: string;
  /** `list` may be given several times. */
  readonly type: 'string' | 'boolean' | 'list';
  /** The placeholder of its value in help. */
  readonly value?: string;
  readonly summary: string;
  /** The allowed values. */
  readonly choices?: readonly string[];
  /** What a shell completes its value with. */
  readonly completes?: 'files' | 'folders';
}

const toggle = (name: string, summary: string, short?: string): FlagDescription => ({
  name,
  type: 'boolean',
  summary,
  ...(short === undefined ? {} : { short }),
});

const valued = (
  name: string,
  value: string,
  summary: string,
  more: Partial<FlagDescription> = {},
): FlagDescription => ({
  name,
  type: 'string',
  value,
  summary,
  ...more,
});

export const everywhere: readonly FlagDescription[] = [
  valued('config', 'file', 'configuration file (default config.json in the data folder)', { completes: 'files' }),
  valued('data-dir', 'folder', 'where data lives (default ~/.carrel)', { completes: 'folders' }),
  toggle('debug', 'log everything, also on stderr'),
  toggle('help', 'show this', 'h'),
  toggle('version', 'show the version', 'v'),
];

export const readOnlyFlag = toggle('read-only', 'offer only tools that change nothing');

export const serving: readonly FlagDescription[] = [
  valued('transport', 'stdio|http', 'how clients connect', { choices: ['stdio', 'http'] }),
  valued('host', 'address', 'where to listen (default 127.0.0.1)'),
  valued('port', 'number', 'which port; 0 picks any free one'),
  toggle('cody', 'speak revision 2024-11-05, with its HTTP+SSE pair'),
  readOnlyFlag,
  toggle('alone', 'on stdio: serve in a process of its own'),
];

/** Without any of them, all three. */
export const engineRoleFlags: readonly FlagDescription[] = [
  toggle('ingest', 'turn what was submitted into documents'),
  toggle('embed', 'make the vectors of documents'),
  toggle('search', 'answer searches'),
];

export const toolsetsFlag = valued('toolsets', 'a,b,c', 'which toolsets serve offers');

export const toolsFlag = valued('tools', 'essential|all', 'which tools serve lists (default all)', {
  choices: ['essential', 'all'],
});

/** Of roles with the knowledge base. */
export const allowFlag = valued('allow', 'folders', 'on stdio: folders whose files may be added by their path', {
  completes: 'folders',
});

export const jsonFlag = toggle('json', 'print JSON');
export const verboseFlag = toggle('verbose', 'say whether the shared process answers');
export const forceFlag = toggle('force', 'overwrite what exists');
export const collectionFlag = valued('collection', 'name', 'the collection of the knowledge base');
export const tagFlag: FlagDescription = {
  name: 'tag',
  type: 'list',
  value: 'tag',
  summary: 'a tag; may be given several times',
};
export const limitFlag = valued('limit', 'number', 'how many at most');
export const offsetFlag = valued('offset', 'number', 'how many to skip first');
export const openFlag = toggle('open', "open the first one's file with the system's default program");

export const adding: readonly FlagDescription[] = [
  toggle('watch', 'keep following changes of the folders until stopped'),
  collectionFlag,
  tagFlag,
  { name: 'include', type: 'list', value: 'pattern', summary: 'only matching files, such as "*.md"' },
  { name: 'exclude', type: 'list', value: 'pattern', summary: 'no matching files, such as "drafts/**"' },
  toggle('no-gitignore', 'also what .gitignore files leave out'),
];

/** For addresses. */
export const addingPages: readonly FlagDescription[] = [
  { name: 'tags', type: 'list', value: 'a,b,c', summary: 'tags, separated by commas' },
  toggle('site', 'an address: follow the links below it'),
  toggle('sitemap', 'an address: the pages of its sitemap'),
  toggle('feed', 'an address: the entries of an RSS, Atom or JSON feed'),
  valued('depth', 'number', 'how many links away from the first page (default 3)'),
  valued('pages', 'number', 'max pages of a source (default 1000)'),
  valued('refresh', 'time', 'daily, weekly, never or hours (default weekly; feeds daily, single pages never)'),
  valued('version', 'version', 'of the documented library: the tag version:<version>'),
  toggle('wait', 'fetch here, with a progress bar, until it is done'),
];

/** May be given several times. */
const listed = (name: string, value: string, summary: string): FlagDescription => ({
  name,
  type: 'list',
  value,
  summary,
});

export { listed, toggle, valued };
