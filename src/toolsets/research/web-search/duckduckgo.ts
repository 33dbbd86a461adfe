import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { askProvider, objectsIn, type ProviderAnswer, parseJsonAnswer, providerUrl } from './ask-provider.ts';
import { cleanResults, type RawResult } from './result-text.ts';
import { ProviderFailure, type SearchProvider, type SearchResult } from './search-provider.ts';

interface DuckDuckGoConfig {
  /** The URL of the results page without scripts, or of a substitute. */
  address: string;
  userAgent: string;
  timeoutMs: number;
}

/** Max bytes of an answer. Results pages are about 40 KB, and parsing much more would delay other calls. */
const bytesMax = 512 * 1024;

/**
 * Creates the provider for DuckDuckGo, which needs no key. It reads the HTML results page. A JSON answer is
 * taken to be from the Instant Answer API (summary and related topics), which covers far fewer pages.
 */
export function createDuckDuckGo({ address, userAgent, timeoutMs }: DuckDuckGoConfig): SearchProvider {
  return {
    name: 'duckduckgo',
    async search({ query, limit, signal }) {
      const url = providerUrl(address, '/html/');
      url.searchParams.set('q', query);
      const headers = { 'user-agent': userAgent, accept: 'text/html', 'accept-language': 'en, *;q=0.5' };
      const answer = await askProvider({ url, headers, timeoutMs, bytesMax, signal });
      return isJson(answer) ? readInstantAnswer(answer, limit) : readPage(answer, url, limit);
    },
  };
}

/**
 * Detects JSON by content type or text. The real API labels its JSON as a script, and a substitute may use any type.
 */
function isJson({ contentType, text }: ProviderAnswer): boolean {
  return /json|javascript/.test(contentType) || text.trimStart().startsWith('{');
}

function readPage(answer: ProviderAnswer, url: URL, limit: number): SearchResult[] {
  const page = readResultsPage(answer.text, url);
  if (page.results.length > 0) return cleanResults(page.results, 'plain', limit);
  if (page.isChallenge) throw new ProviderFailure('blocked', 'a challenge page');
  // A page of any other kind must not count as "nothing found".
  if (!page.isResultsPage) throw new ProviderFailure('failed', 'a page that is not a results page');
  return [];
}

function readInstantAnswer(answer: ProviderAnswer, limit: number): SearchResult[] {
  const { Heading, AbstractText, AbstractURL, Results, RelatedTopics } = parseJsonAnswer(answer);
  const topics = objectsIn(RelatedTopics).flatMap((topic) => [topic, ...objectsIn(topic['Topics'])]);
  const raw: RawResult[] = [
    { title: Heading, url: AbstractURL, snippet: AbstractText },
    ...[...objectsIn(Results), ...topics].map(({ Text, FirstURL }) => ({
      title: typeof Text === 'string' ? Text.split(' - ', 1)[0] : undefined,
      url: FirstURL,
      snippet: Text,
    })),
  ];
  return cleanResults(raw, 'html', limit);
}

interface ResultsPage {
  results: RawResult[];
  /** True if the page is a captcha. */
  isChallenge: boolean;
  /** If true and there are no results, nothing was found. */
  isResultsPage: boolean;
}

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** CSS classes on DuckDuckGo's ordinary and "lite" pages. */
const titleClasses = ['result__a', 'result-link'];
const snippetClasses = ['result__snippet', 'result-snippet'];
const adClasses = ['result--ad', 'result-sponsored', 'badge--ad__tooltip-wrap'];
const resultsPageMarks = ['no-results', 'result--no-result', 'results', 'links'];

/** Reads the page in document order: a title starts a result, and the next snippet belongs to it. */
export function readResultsPage(html: string, address: URL): ResultsPage {
  const results: { title: string; url: string; snippet: string }[] = [];
  let isChallenge = false;
  let isResultsPage = false;
  for (const element of elementsOf(parse(html))) {
    const classes = classesOf(element);
    if (hasAny(classes, titleClasses)) {
      const url = targetOf(attribute(element, 'href'), address);
      if (url !== undefined) results.push({ title: textOf(element), url, snippet: '' });
    } else if (hasAny(classes, snippetClasses)) {
      const last = results.at(-1);
      if (last?.snippet === '') last.snippet = textOf(element);
    } else {
      isChallenge ||= isChallengeElement(element, classes);
      isResultsPage ||= hasAny([...classes, attribute(element, 'id')], resultsPageMarks);
    }
  }
  return { results, isChallenge, isResultsPage: isResultsPage || /\bno\s+(more\s+)?results\b/i.test(html) };
}

/** All elements in document order, except inside advertisements. Iterative, because pages may be deep. */
function* elementsOf(root: Node): Generator<Element> {
  const pending: Node[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if ('tagName' in node) {
      if (hasAny(classesOf(node), adClasses)) continue;
      yield node;
    }
    if ('childNodes' in node) pending.push(...node.childNodes.toReversed());
  }
}

/**
 * Returns the page that a result leads to. Results link to `/l/?uddg=<the page>`. Links to `/y.js` are
 * advertisements, so they return undefined.
 */
function targetOf(href: string, address: URL): string | undefined {
  const url = URL.parse(href, address.href);
  if (url === null || url.pathname === '/y.js') return undefined;
  const isRedirect = /^\/l\/?$/.test(url.pathname) && url.searchParams.has('uddg');
  return isRedirect ? (url.searchParams.get('uddg') ?? undefined) : url.href;
}

function isChallengeElement(element: Element, classes: readonly string[]): boolean {
  const marks = [...classes, attribute(element, 'id'), attribute(element, 'action'), attribute(element, 'src')];
  return marks.some((mark) => /anomaly|captcha|challenge/i.test(mark));
}

function textOf(root: Element): string {
  const pending: Node[] = [root];
  let text = '';
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if ('value' in node) text += node.value;
    if ('childNodes' in node) pending.push(...node.childNodes.toReversed());
  }
  return text;
}

function classesOf(element: Element): string[] {
  return attribute(element, 'class').split(/\s+/);
}

function attribute(element: Element, name: string): string {
  return element.attrs.find((item) => item.name === name)?.value ?? '';
}

function hasAny(found: readonly string[], names: readonly string[]): boolean {
  return found.some((item) => names.includes(item));
}
