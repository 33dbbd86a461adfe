import { dropBoilerplate, unlinkedTextOf } from './boilerplate.ts';
import { type MeasureOf, measure } from './measure.ts';
import { namesOf } from './names.ts';
import type { Page, PageElement } from './page-tree.ts';
import { pruneLinkLists } from './prune.ts';

/** The search continues in a child that has at least this share of its parent's points. */
const descendShare = 0.75;
/** The search starts at a `main` or `article` if that has at least this share of the page's points. */
const semanticShare = 0.4;
/** Min text of the result. If less is left, the search has failed, and the whole page is returned. */
const textMin = 140;

/**
 * Finds the element with the page's content and drops everything else, in this order:
 * 1. elements whose names, tags or roles mark them as boilerplate;
 * 2. comments below an article;
 * 3. everything outside the smallest element with most of the running text;
 * 4. lists of links and calls to action inside it.
 */
export function findMainContent(page: Page): PageElement {
  const textBefore = measure(page.elements)(page.body).text;
  dropBoilerplate(page);
  dropComments(page);
  let measureOf = measure(page.elements);
  const root = descend(findStart(page, measureOf), measureOf);
  pruneLinkLists(page.elements, root, measureOf);
  measureOf = measure(page.elements);
  if (measureOf(root).text >= Math.min(textMin, textBefore * 0.5)) return root;
  keepAll(page);
  return page.body;
}

/** Drops elements whose names, tags or roles mark them as boilerplate. Drops nothing if they are most of the page. */
export function dropMarked(page: Page): void {
  const textBefore = measure(page.elements)(page.body).text;
  dropBoilerplate(page, 'page');
  if (measure(page.elements)(page.body).text < textBefore * 0.5) keepAll(page);
}

function keepAll({ elements }: Page): void {
  for (const element of elements) element.isDropped = false;
}

function findStart(page: Page, measureOf: MeasureOf): PageElement {
  const total = measureOf(page.body).points;
  const hasEnough = (element: PageElement) => measureOf(element).points >= total * semanticShare;
  const best = (test: (element: PageElement) => boolean) =>
    page.elements
      .filter((element) => !element.isDropped && test(element))
      .reduce<PageElement | null>(
        (found, element) => (found && measureOf(found).points >= measureOf(element).points ? found : element),
        null,
      );
  for (const test of [isMain, isArticle]) {
    const found = best(test);
    if (found && hasEnough(found)) return found;
  }
  return page.body;
}

function isMain({ tag, attributes }: PageElement): boolean {
  return tag === 'main' || attributes.get('role') === 'main' || attributes.get('itemprop') === 'articleBody';
}

function isArticle({ tag, attributes }: PageElement): boolean {
  return tag === 'article' || attributes.get('role') === 'article';
}

/** Elements that are content themselves. The search does not enter them, because their siblings are content too. */
const leafTags = new Set('p pre h1 h2 h3 h4 h5 h6 blockquote ul ol dl figure li dd details'.split(' '));

/**
 * Enters the child with the most points while it has nearly all of them, and drops its siblings. Keeps siblings that are
 * content too. If it kept any, returns the outermost element that contains them.
 */
function descend(start: PageElement, measureOf: MeasureOf): PageElement {
  let root: PageElement | null = null;
  let current = start;
  for (let depth = 0; ; depth += 1) {
    // At a page's top two levels, siblings after the content are publisher's notices, unless they have several parts.
    const isOuter = start.parent === null && depth < 2;
    const children = elementsOf(current).filter((child) => !child.isDropped);
    const best = children.reduce<PageElement | null>(
      (found, child) => (found && measureOf(found).points >= measureOf(child).points ? found : child),
      null,
    );
    if (!best || leafTags.has(best.tag) || isDataTable(best, measureOf)) return root ?? current;
    const { points } = measureOf(best);
    if (points < measureOf(current).points * descendShare) return root ?? current;
    for (const child of children) {
      if (child === best) continue;
      if (isContentToo(child, best, isOuter, measureOf)) root ??= current;
      else child.isDropped = true;
    }
    current = best;
  }
}

function elementsOf(element: PageElement): PageElement[] {
  return element.children.filter((child) => typeof child !== 'string');
}

/**
 * True if a sibling is content too: the headline above it, an introduction, an element of the same tag and class. Boxes about
 * the author and publisher come after the content, so the threshold is higher there.
 */
function isContentToo(sibling: PageElement, content: PageElement, isOuter: boolean, measureOf: MeasureOf): boolean {
  const { hasTopHeading, linkedText, text, points } = measureOf(sibling);
  if (hasTopHeading && linkedText < text * 0.5) return true;
  if (/^h[1-6]$/.test(sibling.tag)) return sibling.position < content.position;
  if (linkedText > text * 0.25) return false;
  const isSameKind = sibling.tag === content.tag && sibling.attributes.get('class') === content.attributes.get('class');
  if (isSameKind && sibling.attributes.has('class')) return points > 25;
  const total = measureOf(content).points;
  if (sibling.position > content.position) {
    return points >= Math.max(60, total * (isOuter ? 0.2 : 0.15)) && (!isOuter || hasParts(sibling));
  }
  return points >= (sibling.tag === 'p' ? 25 : Math.max(60, total * 0.05));
}

/** True if the element has a heading, a table, code or two paragraphs as direct children. */
function hasParts(element: PageElement): boolean {
  const tags = elementsOf(element).map(({ tag }) => tag);
  return tags.some((tag) => /^(?:h[2-6]|table|pre)$/.test(tag)) || tags.filter((tag) => tag === 'p').length > 1;
}

/** True for a table whose content is spread over its rows. It stays whole; the search enters only layout tables. */
function isDataTable(element: PageElement, measureOf: MeasureOf): boolean {
  if (element.tag !== 'table') return false;
  const total = measureOf(element).points;
  const rows = elementsOf(element).flatMap((child) => (child.tag === 'tr' ? [child] : elementsOf(child)));
  return rows.every((row) => measureOf(row).points < total * descendShare);
}

const commentNames = new Set(
  'comment comments commentlist commentsection commentthread usercomments disqus disqusthread livefyre respond coral'.split(
    ' ',
  ),
);

/** Min text of an article. With less, the page is a discussion of a link, and the comments are the content. */
const articleMin = 400;

/** Drops the comments below an article. They stay if they are most of the page and nothing marks the rest as an article. */
function dropComments(page: Page): void {
  const commentElements = new Set<PageElement>();
  const outermost: PageElement[] = [];
  for (const element of page.elements) {
    const isInComment = element.parent !== null && commentElements.has(element.parent);
    const isComment =
      !element.isDropped && element !== page.body && !/^h\d$/.test(element.tag) && hasCommentName(element);
    if (isComment && !isInComment) outermost.push(element);
    if (isComment || isInComment) commentElements.add(element);
  }
  if (outermost.length === 0) return;
  const measureOf = measure(page.elements);
  const parts = outermost.filter((element) => !measureOf(element).hasMain || element.tag === 'article');
  const commentText = parts.reduce((sum, element) => sum + unlinkedTextOf(measureOf, element), 0);
  const articleText = unlinkedTextOf(measureOf, page.body) - commentText;
  const isArticle = page.metadata.metas.get('og:type') === 'article' || page.elements.some(isArticleBody);
  if (articleText < articleMin || (articleText < commentText * 0.5 && !isArticle)) return;
  for (const element of parts) element.isDropped = true;

  function isArticleBody(element: PageElement): boolean {
    return (
      element.tag === 'article' && !commentElements.has(element) && unlinkedTextOf(measureOf, element) >= articleMin
    );
  }
}

function hasCommentName(element: PageElement): boolean {
  for (const name of namesOf(element)) if (commentNames.has(name)) return true;
  return false;
}
