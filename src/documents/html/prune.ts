import type { MeasureOf } from './measure.ts';
import type { PageElement } from './page-tree.ts';
import { textOf } from './text-of.ts';

/** A block is a list of links if at least this share of its text is linked. */
const linkedShare = 0.65;

const containerTags = new Set('div section ul ol dl table aside header figure article p'.split(' '));

/** Drops lists of links, tables of contents and calls to action inside the content. */
export function pruneLinkLists(elements: PageElement[], root: PageElement, measureOf: MeasureOf): void {
  const kept = new Set<PageElement>([root]);
  const standaloneByParent = new Map<PageElement, boolean>();
  for (const element of elements) {
    if (element === root || element.isDropped || !element.parent || !kept.has(element.parent)) continue;
    if (isCallToAction(element, measureOf, standaloneByParent)) element.isDropped = true;
    else if (/^h[2-6]$/.test(element.tag) && isRelatedHeading(element, measureOf))
      dropSection(element, root, measureOf);
    else if (containerTags.has(element.tag) && isLinkList(element, measureOf)) element.isDropped = true;
    if (!element.isDropped) kept.add(element);
  }
  for (const element of kept) if (/^h[2-6]$/.test(element.tag) && hasEmptySection(element)) element.isDropped = true;
}

/** True for a heading whose section was dropped. */
function hasEmptySection(heading: PageElement): boolean {
  const siblings = heading.parent?.children ?? [];
  let hasDroppedPart = false;
  for (let index = heading.position + 1; index < siblings.length; index += 1) {
    const sibling = siblings[index];
    if (sibling === undefined || (typeof sibling === 'string' && sibling.trim() === '')) continue;
    if (typeof sibling === 'string') return false;
    if (sibling.isDropped) hasDroppedPart = true;
    else return hasDroppedPart && /^h[1-6]$/.test(sibling.tag) && sibling.tag <= heading.tag;
  }
  return hasDroppedPart;
}

function isLinkList(element: PageElement, measureOf: MeasureOf): boolean {
  const { text, linkedText, links, points } = measureOf(element);
  if (links === 0 || text === 0 || linkedText < text * linkedShare || points > 60) return false;
  if (element.tag === 'p')
    return links >= 2 && linkedText > text * 0.9 && linkedText / links < 25 && !isEnumeration(element);
  const anchors = anchorsOf(element);
  const toSamePage = anchors.filter((anchor) => anchor.attributes.get('href')?.startsWith('#')).length;
  if (links >= 3 && toSamePage > links * 0.6) return true;
  // A short list of links after a sentence or heading is part of the text: "the options are …".
  const isList = element.tag === 'ul' || element.tag === 'ol' || element.tag === 'dl' || element.tag === 'table';
  if (isList) return !(followsProse(element, measureOf) && linkedText / links < 45);
  return (links >= 2 || linkedText > text * 0.9) && !isEnumeration(element);
}

/** True for links separated by commas. They are part of the text: the authors of a paper, the members of a band. */
function isEnumeration(element: PageElement): boolean {
  const separators = element.children.filter((child) => typeof child === 'string').join('');
  return /[,;、，،]/.test(separators.slice(0, 1000));
}

/** Returns the first hundred links in an element, which is enough to classify it. */
function anchorsOf(element: PageElement): PageElement[] {
  const anchors: PageElement[] = [];
  const stack = [element];
  for (let current = stack.pop(); current && anchors.length < 100; current = stack.pop()) {
    if (current.tag === 'a') anchors.push(current);
    for (const child of current.children) if (typeof child !== 'string' && !child.isDropped) stack.push(child);
  }
  return anchors;
}

function followsProse(element: PageElement, measureOf: MeasureOf): boolean {
  const previous = previousOf(element);
  if (!previous) return false;
  const { text, linkedText } = measureOf(previous);
  return text > 0 && linkedText < text * 0.5 && /^(?:p|h[1-6]|ul|ol|dl|table|pre|div)$/.test(previous.tag);
}

/** Returns the previous element that was not dropped. Looks at most 12 nodes back, to stay fast in long lists. */
function previousOf(element: PageElement): PageElement | null {
  const siblings = element.parent?.children ?? [];
  for (let index = element.position - 1; index >= Math.max(0, element.position - 12); index -= 1) {
    const sibling = siblings[index];
    if (sibling && typeof sibling !== 'string' && !sibling.isDropped) return sibling;
  }
  return null;
}

/** Headings above lists of links to other pages, in the most common languages. */
const relatedHeading =
  /^(?:related|recommended|read (?:more|next|also)|more (?:from|on|in|stories|articles|news|like)|you (?:may|might) (?:also )?(?:like|be)|you'll also|see more|popular|most (?:read|popular|viewed)|trending|latest|recent (?:posts|articles|news|comments)|also (?:on|in|read)|up next|keep reading|don.t miss|editor.?s picks|further reading|share (?:this|on)|follow us|about the author|subscribe|newsletter|sign up|get (?:the|our) |stay (?:up|in)|join (?:the|our)|customers (?:also|who)|similar|frequently bought|sponsored|advertisement|partner content|tags|topics|categories|in this (?:article|section|page)|on this page|table of contents|contents|leave a (?:reply|comment)|comments|was this|did you find|mehr (?:zum|aus|von)|das könnte|ähnliche|lesen sie|verwandte|auch interessant|à lire|lire aussi|articles? (?:liés|similaires)|sur le même|artículos? relacionad|te puede|lee también|más (?:noticias|leíd)|leia (?:também|mais)|notícias relacionadas|leggi anche|articoli correlati|potrebbe|читайте также|похожие|по теме|ещё по|популярн|рекоменд|関連|おすすめ|あわせて読|人気|最新|相关|推荐|热门|猜你|延伸|관련|추천|많이 본|인기|مقالات ذات|اقرأ أيضا|ذات صلة|ข่าวที่เกี่ยวข้อง|บทความที่เกี่ยวข้อง)/i;

function isRelatedHeading(heading: PageElement, measureOf: MeasureOf): boolean {
  const { text } = measureOf(heading);
  return text > 0 && text < 60 && relatedHeading.test(textOf(heading, 100));
}

/** Drops a heading and its section, up to the next heading, if the section is short or has many links. */
function dropSection(heading: PageElement, root: PageElement, measureOf: MeasureOf): void {
  const parent = heading.parent;
  if (!parent) return;
  const section: PageElement[] = [];
  let text = 0;
  let linkedText = 0;
  let isLast = true;
  for (let index = heading.position + 1; index < parent.children.length; index += 1) {
    const element = parent.children[index];
    if (element === undefined || typeof element === 'string' || element.isDropped) continue;
    if (/^h[1-6]$/.test(element.tag) && element.tag <= heading.tag) {
      isLast = false;
      break;
    }
    section.push(element);
    text += measureOf(element).text;
    linkedText += measureOf(element).linkedText;
  }
  if (linkedText < text * 0.3 && text > 300) return;
  for (const element of [heading, ...section]) element.isDropped = true;
  if (isLast && parent !== root && previousOf(heading) === null) parent.isDropped = true;
}

/** Length of the longest known call to action, in characters. */
const actionCharsMax = 32;

const callToAction =
  /^(?:share(?: this(?: article| story| post| page)?)?|tweet|print(?: (?:this|the|entire|whole|recipe)[\w ]*)?|e-?mail|save|copy link|pin it|advertisement|anzeige|publicité|publicidad|реклама|広告|广告|광고|sponsored|read more|continue reading|learn more|show more|load more(?: comments)?|back to top|top|reply|report|quote|like|edit|edit this page|add to (?:cart|basket|wishlist)|buy now|sign up|log ?in|subscribe(?: now)?|loading\W*|skip to (?:main )?content|view all|see all|(?:\d+ )?comments?|close|menu|search|follow|previous|next|download app|jump to \w+|apply now|(?:was|is) this (?:page|article) (?:helpful|useful)\W*|did you find this[\w ]*\W*)[\s.…:»›→!]*$/i;

function isCallToAction(
  element: PageElement,
  measureOf: MeasureOf,
  standaloneByParent: Map<PageElement, boolean>,
): boolean {
  const { tag, parent } = element;
  if (!/^(?:p|div|span|a|li|strong|small)$/.test(tag) || !parent) return false;
  const isBlock = tag === 'p' || tag === 'div' || tag === 'li';
  if (isBlock && measureOf(element).text > actionCharsMax) return false;
  if (!isBlock) {
    const isStandalone = standaloneByParent.get(parent) ?? hasNoText(parent);
    standaloneByParent.set(parent, isStandalone);
    if (!isStandalone) return false;
  }
  const label = textOf(element, actionCharsMax * 2);
  return label.length < actionCharsMax && ((tag === 'a' && isButton(element)) || callToAction.test(label));
}

function isButton(link: PageElement): boolean {
  return /(?:^|[\s_-])(?:btn|button|cta)(?:$|[\s_-])/i.test((link.attributes.get('class') ?? '').slice(0, 400));
}

/** True if the parent contains no direct text. Otherwise an inline element is part of a sentence, not a button. */
function hasNoText(parent: PageElement): boolean {
  return parent.children.every((child) => typeof child !== 'string' || /^[\s|·•/-]*$/.test(child.slice(0, 20)));
}
