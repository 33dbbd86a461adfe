import { blockTags, type MeasureOf, measure } from './measure.ts';
import { namesOf } from './names.ts';
import type { Page, PageElement } from './page-tree.ts';

/** A family of boilerplate names counts as content if it has more than this share of the page's text. */
const familyShareMax = 0.5;
/** An element with a boilerplate name stays if it has more than this share of the page's text. */
const elementShareMax = 0.4;
/** The same limit for an element that contains the main heading or an article. */
const articleShareMax = 0.1;
/** The same limit for consent dialogs and pop-ups, which are often longer than the page. */
const overlayShareMax = 0.85;

/** Min characters of running text in a section. */
const sectionProseMin = 50;

/** Drops elements whose names, tags or roles mark them as boilerplate, unless they have too much of the page's text. */
export function dropBoilerplate(page: Page, extent: 'content' | 'page' = 'content'): void {
  const families = Uint32Array.from(page.elements, familiesOf);
  const measureOf = measure(page.elements);
  const pageText = unlinkedTextOf(measureOf, page.body);
  const contentFamilies = findContentFamilies(page.elements, families, measureOf, pageText);
  for (const element of page.elements) {
    const bits = (families[element.order] ?? 0) & ~contentFamilies;
    if (bits === 0 || element === page.body) continue;
    if ((bits & landmark) === 0 && isSection(element, measureOf, extent)) continue;
    const { hasTopHeading, hasMain } = measureOf(element);
    const namedShareMax = bits & overlays ? overlayShareMax : elementShareMax;
    const shareMax = hasTopHeading || hasMain ? articleShareMax : namedShareMax;
    if (unlinkedTextOf(measureOf, element) <= pageText * shareMax) element.isDropped = true;
  }
}

/**
 * True for a section with running text. A boilerplate name alone does not remove it, because a chapter may be called voting,
 * login or related-work. It is removed if it also has a field or button, or mostly links. With extent `content`, it is also
 * removed if it has no heading.
 */
function isSection(element: PageElement, measureOf: MeasureOf, extent: 'content' | 'page'): boolean {
  const { prose, text, linkedText, hasControl, hasHeading } = measureOf(element);
  if (prose < sectionProseMin || hasControl || linkedText > text * 0.5) return false;
  return extent === 'page' || hasHeading;
}

/**
 * Boilerplate words in class and id, one family per line. Adjacent words are also tried as one (`most-read`). A family with much
 * of the page's text is content: a restaurant's page has its dishes in `menu-item`.
 */
const familyWords: string[] = [
  'nav navbar navigation navmenu sitenav topnav mainnav subnav breadcrumb breadcrumbs crumb crumbs skip skiplink skipnav hamburger mainmenu',
  'menu submenu megamenu dropdown',
  'masthead siteheader topbar globalheader pageheader topheader headerwrap sitelogo',
  'footer colophon sitefooter copyright legalnotice foot bottombar',
  'sidebar sidenav rail rightrail leftrail rightcol leftcol rightcolumn leftcolumn sidecolumn sidecol',
  'ad ads advert adverts advertisement advertising adslot adunit adbox adwrap adcontainer adsbygoogle sponsor sponsored sponsors dfp taboola outbrain promoted promo promos promotion promobox disclosure affiliate',
  'cookie cookies cookiebar consent gdpr ccpa onetrust cmp cookiebot',
  'share sharing sharebar sharebuttons sharelinks social socials socialbar sociallinks addthis sharethis follow followus',
  'related relatedposts relatedarticles recommended recommendation recommendations recs recirc recirculation readnext readmore trending popular mostread mostpopular upnext morestories morefrom alsolike alsobought crosssell upsell latestnews headlines teasers youmaylike seealso',
  'newsletter subscribe subscription signup optin mailchimp emailsignup',
  'pagination pager pagenav prevnext postnav postnavigation navlinks nextprev pagelinks',
  'tags taglist tagcloud posttags entrytags topics keywords categorylist',
  'login signin register paywall regwall metered userbox',
  'popup modal overlay lightbox toast snackbar interstitial notificationbar announcement',
  'toolbar toolbox editsection feedback washelpful helpful vote votes voting votecell reactions backtotop editpage editthispage printbutton pagetools actions articletools',
  'toc tableofcontents onthispage jumplinks',
  'byline authorbio authorbox aboutauthor postmeta entrymeta articlemeta metainfo dateline',
  'widget widgets chatbot livechat appbanner appdownload downloadapp weather ticker breakingnews',
  'signature sig avatar userinfo userstats userdetails posterinfo',
];

const familyOfWord = new Map(
  familyWords.flatMap((line, index) => line.split(' ').map((word): [string, number] => [word, 1 << index])),
);
const landmark = 1 << 28;
const overlays = (familyOfWord.get('consent') ?? 0) | (familyOfWord.get('popup') ?? 0);

/** Tags whose class and id count. On others, such as headings, the author may have chosen any name. */
const namedTags = new Set(
  [...blockTags, 'span', 'a', 'amp-ad', 'ins'].filter((tag) => !/^(?:h\d|pre|body|main)$/.test(tag)),
);

function familiesOf(element: PageElement): number {
  if (!namedTags.has(element.tag)) return 0;
  let bits = isLandmark(element) ? landmark : 0;
  for (const name of namesOf(element)) bits |= familyOfWord.get(name) ?? 0;
  return bits;
}

const noteClass =
  /(?:^|[\s_-])(?:note|tip|warning|caution|info|important|danger|admonition|callout|hint|alert|notice)/i;

/** True for elements that their tag or role marks as boilerplate: footers, asides, the page's own header, forms. */
function isLandmark(element: PageElement): boolean {
  const { tag, attributes, parent } = element;
  if (tag === 'footer') return parent?.tag !== 'blockquote' && parent?.tag !== 'figure';
  if (tag === 'aside' || attributes.get('role') === 'complementary')
    return !noteClass.test(attributes.get('class') ?? '');
  if (tag === 'header') return !isInsideContent(element);
  return tag === 'form';
}

function isInsideContent(element: PageElement): boolean {
  // Checks a limited number of levels: a page header is not nested deeper.
  let ancestor = element.parent;
  for (let level = 0; ancestor && level < 30; level += 1) {
    if (ancestor.tag === 'article' || ancestor.tag === 'main' || ancestor.tag === 'section') return true;
    if (ancestor.attributes.get('role') === 'main') return true;
    ancestor = ancestor.parent;
  }
  return false;
}

/** Returns the families that cover most of the page, and so must be its content. Nested elements count once. */
function findContentFamilies(
  elements: PageElement[],
  families: Uint32Array,
  measureOf: MeasureOf,
  pageText: number,
): number {
  const covered = new Map<number, number>();
  const bitsAbove = new Uint32Array(elements.length);
  for (const element of elements) {
    const inherited = (element.parent && bitsAbove[element.parent.order]) ?? 0;
    const bits = families[element.order] ?? 0;
    bitsAbove[element.order] = inherited | bits;
    const newBits = bits & ~inherited;
    if (newBits === 0 || measureOf(element).hasMain) continue;
    for (let bit = 1; bit <= landmark; bit <<= 1) {
      if (newBits & bit) covered.set(bit, (covered.get(bit) ?? 0) + unlinkedTextOf(measureOf, element));
    }
  }
  let contentFamilies = 0;
  for (const [bit, text] of covered) {
    if (text > pageText * (bit & overlays ? overlayShareMax : familyShareMax)) contentFamilies |= bit;
  }
  return contentFamilies;
}

export function unlinkedTextOf(measureOf: MeasureOf, element: PageElement): number {
  const { text, linkedText } = measureOf(element);
  return text - linkedText;
}
