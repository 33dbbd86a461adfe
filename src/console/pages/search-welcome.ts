import { read, type Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { IconName } from '../parts/icon-shapes.ts';
import { icon, plainText, plural } from '../parts/parts.ts';

const examplesMax = 4;

/** Renders the search page without a query: what is stored, what to search for, and how to add more. */
export async function welcome(tools: Visit['tools']): Promise<Html> {
  const listed = tools.has('kb_list') ? await tools.call('kb_list', { limit: 20 }).catch(() => ({})) : {};
  const total = read.number(listed, 'total') ?? 0;
  const titles = read.list(listed, 'documents').map((document) => plainText(read.text(document, 'title')));
  const examples = [...new Set(titles)]
    .filter((title) => /\p{L}{3}.*\s\p{L}/u.test(title) || titles.length <= examplesMax)
    .slice(0, examplesMax);
  return html`<div class="welcome">
<p class="welcome-lead">${total === 0 ? 'Nothing here yet. Add the first files, or let an agent remember something.' : html`${plural(total, 'document')}, with notes and memories, in one search. <b>"Quote words"</b> to match a phrase exactly.`}</p>
${examples.length > 0 && html`<div class="try"><span class="meta">Try</span><ul class="chips">${examples.map((title) => html`<li><a class="chip" href="/?q=${encodeURIComponent(title.slice(0, 80))}">${title.slice(0, 60)}</a></li>`)}</ul></div>`}
<ul class="steps">
${tools.has('kb_upload_start') && step('/jobs', 'upload', 'Add files', 'PDF, Office, Markdown, code, mail, web pages')}
${step('/connect', 'plug', 'Connect a client', 'Claude, Cursor, VS Code and others, one command each')}
${tools.has('list_threads') && step('/memories', 'brain', 'Read the memory', 'What agents stored, thread by thread')}
</ul></div>`;
}

function step(href: string, sign: IconName, title: string, text: string): Html {
  return html`<li><a class="step" href="${href}">${icon(sign)}<span><b>${title}</b><span class="meta">${text}</span></span></a></li>`;
}
