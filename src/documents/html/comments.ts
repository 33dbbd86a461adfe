import { proseOf } from './boilerplate.ts';
import { measure } from './measure.ts';
import { namesOf } from './names.ts';
import type { Page, PageElement } from './page-tree.ts';

const words = new Set(
  'comment comments commentlist commentsection commentthread usercomments disqus disqusthread livefyre respond coral'.split(
    ' ',
  ),
);

/** An article with less text than this is just a link to discuss, and the discussion is the content. */
const articleMin = 400;

/** Drops the comments below an article. Where they are most of the page and nothing says "article", they stay. */
export function dropComments(page: Page): void {
  const inside = new Set<PageElement>();
  const outermost: PageElement[] = [];
  for (const element of page.elements) {
    const above = element.parent !== null && inside.has(element.parent);
    const isComment =
      !element.dropped && element !== page.body && !/^h\d$/.test(element.tag) && hasCommentName(element);
    if (isComment && !above) outermost.push(element);
    if (isComment || above) inside.add(element);
  }
  if (outermost.length === 0) return;
  const measureOf = measure(page.elements);
  const parts = outermost.filter((element) => !measureOf(element).main || element.tag === 'article');
  const comments = parts.reduce((sum, element) => sum + proseOf(measureOf, element), 0);
  const rest = proseOf(measureOf, page.body) - comments;
  const isArticle = page.facts.metas.get('og:type') === 'article' || page.elements.some(isArticleBody);
  if (rest < articleMin || (rest < comments * 0.5 && !isArticle)) return;
  for (const element of parts) element.dropped = true;

  function isArticleBody(element: PageElement): boolean {
    return element.tag === 'article' && !inside.has(element) && proseOf(measureOf, element) >= articleMin;
  }
}

function hasCommentName(element: PageElement): boolean {
  for (const name of namesOf(element)) if (words.has(name)) return true;
  return false;
}
