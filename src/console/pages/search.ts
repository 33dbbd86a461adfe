import { read, type Visit } from '../console-tools.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import {
  badge,
  button,
  checkbox,
  emptyState,
  linkButton,
  linkTo,
  marked,
  meter,
  passagePage,
  plural,
  tagList,
  time,
} from '../parts/parts.ts';

const limit = 20;

/** One box over everything, and for each hit where it is from, how relevant it is and why. */
export async function searchPage({ tools, query }: Visit): Promise<Page> {
  const text = (query.get('q') ?? '').trim().slice(0, 1000);
  const showsWeak = query.get('weak') === '1';
  const asked = { query: text, limit, explain: true, ...(showsWeak ? { include_weak: true } : {}) };
  const results = text === '' ? welcome() : await (tools.has('find') ? find : searchDocuments)();
  return {
    title: text === '' ? 'Search' : text.slice(0, 60),
    body: html`<h1 class="visually-hidden">Search</h1>
<form class="search row" role="search" method="get" action="/" data-live="#results">
<label for="q" class="visually-hidden">Search in everything</label>
<input id="q" name="q" type="search" value="${text}" placeholder="Search in everything" autocomplete="off" autofocus>
${checkbox('Low relevance', 'weak', { isChecked: showsWeak })}
${button('Search', { kind: 'primary' })}
</form>
<div id="results" aria-live="polite">${results}</div>`,
  };

  async function find(): Promise<Html> {
    const answer = await tools.call('find', asked);
    const hits = read.list(answer, 'results');
    const weak = read.number(answer, 'weak_omitted') ?? 0;
    const states = read.list(answer, 'sources').filter((each) => each['status'] !== 'skipped');
    return html`<p class="meta">${plural(hits.length, 'result')}${weak > 0 && ` · ${weak} low-relevance hidden`}</p>
<ol class="hits">${hits.map((hit) => findHit(hit, text))}</ol>
<ul class="sources" aria-label="Sources">${states.map(sourceState)}</ul>`;
  }

  async function searchDocuments(): Promise<Html> {
    const answer = await tools.call('kb_search', asked);
    const hits = read.list(answer, 'results');
    return html`<p class="meta">${plural(hits.length, 'result')}</p>
<ol class="hits">${hits.map((hit) => documentHit(hit, text))}</ol>`;
  }
}

function findHit(hit: Record<string, unknown>, query: string): Html {
  const uri = read.text(hit, 'uri');
  return html`<li class="hit" tabindex="0"><h2>${linkTo(uri, read.text(hit, 'title') || uri, passagePage(uri, hit))}</h2>
<p class="meta">${badge(read.text(hit, 'source'))} ${time(read.text(hit, 'date'))}</p>
<p class="passage">${marked(read.text(hit, 'snippet'), query)}</p>
${explained(hit, read.object(hit, 'scores'))}</li>`;
}

function documentHit(hit: Record<string, unknown>, query: string): Html {
  const uri = `carrel://kb/doc/${read.text(hit, 'document_id')}`;
  return html`<li class="hit" tabindex="0"><h2>${linkTo(uri, read.text(hit, 'title') || uri, passagePage(uri, hit))}</h2>
<p class="meta">${badge(read.text(hit, 'collection'))} ${time(read.text(hit, 'created_at'))}</p>
${tagList(read.texts(hit, 'tags'))}
<p class="passage">${marked(read.text(hit, 'text').slice(0, 600), query)}</p>
${explained(hit, read.object(read.object(hit, 'why'), 'evidence'))}</li>`;
}

/** The relevance and what it was judged by, as bars, and in words what matched. */
function explained(hit: Record<string, unknown>, scores: Record<string, unknown>): Html {
  const relevance = read.number(hit, 'relevance');
  const why = read.text(hit, 'why');
  const bars = (['words', 'meaning', 'reranker'] as const).map((name) => {
    const score = read.number(scores, name);
    return score === undefined ? html`` : meter(name, score);
  });
  return html`<div class="explained">${relevance !== undefined && meter('relevance', relevance)}${bars}
${why !== '' && html`<details><summary>Why</summary><p>${why}</p></details>`}</div>`;
}

function sourceState(source: Record<string, unknown>): Html {
  const [name, status, message] = ['source', 'status', 'message'].map((field) => read.text(source, field));
  return html`<li class="state-${status === 'searched' ? 'good' : 'bad'}"><b>${name}</b> ${status}${message !== '' && `: ${message}`}</li>`;
}

function welcome(): Html {
  return emptyState({
    icon: 'search',
    title: 'Search documents, notes and memories',
    actions: html`${linkButton('/jobs', 'Add files', { icon: 'upload' })}${linkButton('/connect', 'Connect a client', { icon: 'plug' })}`,
  });
}
