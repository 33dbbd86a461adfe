import { read, type Visit } from '../console-tools.ts';
import { type Html, html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import {
  documentText,
  emptyState,
  icon,
  iconButton,
  linkButton,
  marker,
  number,
  pageOf,
  pdfPage,
  problem,
  renderMarkdown,
  tagList,
  time,
  typeIcon,
} from '../parts/parts.ts';

/** Max tokens of a preview: enough for the passage and the text around it. */
const budgetTokens = 6_000;
const chunksMax = 12;
const textCharsMax = 40_000;

/** Shows the content of a URI at a passage. The script opens it next to the results. */
export async function previewPage({ tools, query }: Visit): Promise<Page> {
  const uri = query.get('uri') ?? '';
  const [, kind, id] = /^carrel:\/\/(kb\/doc|notes|context)\/([\w-]{1,100})$/.exec(uri) ?? [];
  const request: PreviewRequest = {
    tools,
    id: id ?? '',
    ...passageOf(query),
    mark: marker((query.get('q') ?? '').slice(0, 1000)),
  };
  const preview = (await previews[kind ?? '']?.(request)) ?? externalPreview(uri);
  return {
    title: preview.title,
    body: html`<article id="preview" class="preview" tabindex="-1" aria-label="Preview">${renderPreview(preview, pageOf(uri))}</article>`,
  };
}

interface PreviewRequest {
  tools: Visit['tools'];
  id: string;
  chunk: number | undefined;
  range: readonly [number, number] | undefined;
  mark(text: string): Part;
}

const previews: Readonly<Record<string, (request: PreviewRequest) => Promise<Preview>>> = {
  'kb/doc': documentPreview,
  notes: notePreview,
  context: entryPreview,
};

interface Preview {
  title: string;
  type?: string;
  meta: Part;
  tags?: readonly string[];
  body: Part;
  original?: string;
}

function passageOf(query: URLSearchParams): Pick<PreviewRequest, 'chunk' | 'range'> {
  const [, from, to] = /^(\d{1,8})-(\d{1,8})$/.exec(query.get('range') ?? '') ?? [];
  const chunk = /^\d{1,8}$/.exec(query.get('chunk') ?? '')?.[0];
  return {
    chunk: chunk === undefined ? undefined : Number(chunk),
    range: from === undefined ? undefined : [Number(from), Number(to)],
  };
}

function renderPreview({ title, type = '', meta, tags = [], body, original }: Preview, page: string | undefined): Html {
  return html`<header class="preview-header"><div class="preview-title">${icon(typeIcon(type))}<h1>${title}</h1></div>
<div class="row">${page !== undefined && linkButton(page, 'Open', { icon: 'external-link', isSmall: true })}${original !== undefined && linkButton(original, 'Original', { icon: 'download', isSmall: true, attributes: { download: true } })}${iconButton('x', 'Close preview', { isSmall: true, attributes: { type: 'button', 'data-close-preview': true } })}</div>
<p class="meta">${meta}</p>${tagList(tags, (tag) => `/documents?tag=${encodeURIComponent(tag)}`)}</header>
<div class="preview-body">${body}</div>`;
}

async function documentPreview({ tools, id, chunk = 0, range, mark }: PreviewRequest): Promise<Preview> {
  const first = Math.max(0, chunk - 2);
  const document = await tools.call('kb_get', {
    document_id: Number(id),
    first_chunk: first,
    max_chunks: chunksMax,
    budget_tokens: budgetTokens,
  });
  const type = read.text(document, 'doc_type');
  const chunks = read.list(document, 'chunks');
  const hasMore = read.text(document, 'next') !== '';
  const sections = chunks.map((each, index) => {
    const isPassage = read.number(each, 'chunk_index') === chunk;
    const { page, line_start: firstLine } = read.object(each, 'chunk_metadata');
    const { page: pageBefore } = read.object(chunks[index - 1] ?? {}, 'chunk_metadata');
    const text = documentText(type, read.text(each, 'text'), {
      ...(typeof firstLine === 'number' ? { firstLine } : {}),
      ...(isPassage ? { mark, passage: range ?? [0, textCharsMax] } : {}),
    });
    return html`${typeof page === 'number' && page !== pageBefore && html`<p class="page-number">Page ${number(page)}</p>`}<section${isPassage && html` id="passage"`}>${text}</section>`;
  });
  const found = chunks.find((each) => read.number(each, 'chunk_index') === chunk);
  const picture = pdfPage(document, found, read.text(found ?? {}, 'text').slice(...(range ?? [])));
  const wholeDocument = linkButton(`/documents/${Number(id)}`, 'Whole document', { kind: 'quiet', isSmall: true });
  return {
    title: read.text(document, 'title') || id,
    type,
    meta: html`${[read.text(document, 'collection'), type, read.text(document, 'source_path')].filter((part) => part !== '').join(' · ')} · ${time(read.text(document, 'created_at'))}`,
    tags: read.texts(document, 'tags'),
    body: html`${picture}${first > 0 && html`<p class="cut">${wholeDocument}</p>`}${sections}${hasMore && html`<p class="cut">${wholeDocument}</p>`}`,
    ...(document['has_file'] === true && type !== 'note' ? { original: `/documents/${Number(id)}/original` } : {}),
  };
}

async function notePreview({ tools, id, range, mark }: PreviewRequest): Promise<Preview> {
  const note = read.object(await tools.call('get_note', { id }), 'note');
  return {
    title: read.text(note, 'title'),
    type: 'note',
    meta: html`Note · ${time(read.text(note, 'created_at'))}`,
    tags: read.texts(note, 'tags'),
    body: prose(read.text(note, 'content'), { range, mark }),
  };
}

async function entryPreview({ tools, id, range, mark }: PreviewRequest): Promise<Preview> {
  const found = await tools.call('get_context_by_ids', { context_ids: [Number(id)], include_images: false });
  const [entry] = read.list(found, 'result');
  if (entry === undefined) return { title: 'Not found', meta: '', body: problem('This entry was deleted.') };
  const thread = read.text(entry, 'thread_id');
  return {
    title: `Memory ${id}`,
    type: 'note',
    meta: html`<a href="/memories?thread=${encodeURIComponent(thread)}">${thread}</a> · ${read.text(entry, 'source')} · ${time(read.text(entry, 'created_at'))}`,
    tags: read.texts(entry, 'tags'),
    body: prose(read.text(entry, 'text_content'), { range, mark }),
  };
}

/** Renders a text. If it is long, only the part around its passage is shown, from the start of a line. */
function prose(text: string, { range, mark }: Pick<PreviewRequest, 'range' | 'mark'>): Html {
  const from =
    range === undefined || text.length <= textCharsMax
      ? 0
      : text.lastIndexOf('\n', Math.max(0, range[0] - textCharsMax / 2)) + 1;
  const excerpt = text.slice(from, from + textCharsMax);
  const isWhole = range === undefined || range[1] - range[0] >= text.trim().length;
  const passage = isWhole || range === undefined ? undefined : ([range[0] - from, range[1] - from] as const);
  return html`<div class="prose" id="passage">${renderMarkdown(excerpt, { passage, mark })}</div>${excerpt.length < text.length && html`<p class="cut">${number(text.length)} characters in all</p>`}`;
}

function externalPreview(uri: string): Preview {
  const isWeb = /^https?:\/\//.test(uri);
  return {
    title: isWeb ? (URL.parse(uri)?.host ?? uri) : 'Not found',
    type: 'html',
    meta: uri.slice(0, 300),
    body: emptyState({
      icon: 'globe',
      title: isWeb ? 'On another server' : 'Not found',
      text: isWeb
        ? 'The console loads nothing from other servers. Open the page to read it.'
        : 'There is no preview for this address.',
    }),
  };
}
