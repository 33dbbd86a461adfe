import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import type { RawResult } from './result-text.ts';

export interface ResultsPage {
  results: RawResult[];
  /** True if the page is a captcha. */
  isChallenge: boolean;
  /** True if the page is a results page. If it has no results, nothing was found. */
  saysNothingFound: boolean;
}

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** CSS classes on DuckDuckGo's ordinary and "lite" pages. */
const titleClasses = ['result__a', 'result-link'];
const snippetClasses = ['result__snippet', 'result-snippet'];
const adClasses = ['result--ad', 'result-sponsored', 'badge--ad__tooltip-wrap'];
const emptyMarks = ['no-results', 'result--no-result', 'results', 'links'];

/** Reads the page in document order: a title starts a result, and the next snippet belongs to it. */
export function readResultsPage(html: string, address: URL): ResultsPage {
  const results: { title: string; url: string; snippet: string }[] = [];
  let isChallenge = false;
  let saysNothingFound = false;
  for (const element of elementsOf(parse(html))) {
    const classes = classesOf(element);
    if (hasAny(classes, titleClasses)) {
      const url = targetOf(attribute(element, 'href'), address);
      if (url !== undefined) results.push({ title: textOf(element), url, snippet: '' });
    } else if (hasAny(classes, snippetClasses)) {
      const last = results.at(-1);
      if (last?.snippet === '') last.snippet = textOf(element);
    } else {
      isChallenge ||= isRiddle(element, classes);
      saysNothingFound ||= hasAny([...classes, attribute(element, 'id')], emptyMarks);
    }
  }
  return { results, isChallenge, saysNothingFound: saysNothingFound || /\bno\s+(more\s+)?results\b/i.test(html) };
}

/** All elements in document order, except inside advertisements. Iterative, because pages may be deep. */
function* elementsOf(root: Node): Generator<Element> {
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ('tagName' in node) {
      if (hasAny(classesOf(node), adClasses)) continue;
      yield node;
    }
    if ('childNodes' in node) waiting.push(...node.childNodes.toReversed());
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

function isRiddle(element: Element, classes: readonly string[]): boolean {
  const marks = [...classes, attribute(element, 'id'), attribute(element, 'action'), attribute(element, 'src')];
  return marks.some((mark) => /anomaly|captcha|challenge/i.test(mark));
}

function textOf(root: Element): string {
  const waiting: Node[] = [root];
  let text = '';
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ('value' in node) text += node.value;
    if ('childNodes' in node) waiting.push(...node.childNodes.toReversed());
  }
  return text;
}

function classesOf(element: Element): string[] {
  return attribute(element, 'class').split(/\s+/);
}

function attribute(element: Element, name: string): string {
  return element.attrs.find((one) => one.name === name)?.value ?? '';
}

function hasAny(found: readonly string[], wanted: readonly string[]): boolean {
  return found.some((one) => wanted.includes(one));
}
