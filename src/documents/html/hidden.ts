/** Elements that never have text for readers: scripts, controls, drawings, embedded documents, navigation, the head. */
export const neverContent = new Set(
  'head script style noscript template svg iframe object embed applet canvas audio video button input select textarea option datalist dialog nav link meta title base map area progress meter frameset noframes annotation annotation-xml slot'.split(
    ' ',
  ),
);

const hiddenRoles = new Set(
  'navigation search dialog alertdialog menu menubar toolbar tooltip tablist banner contentinfo switch'.split(' '),
);

/** Class names of invisible or secondary text: text for screen readers, heading links, line numbers. */
const hiddenClass =
  /(?:^|\s)(?:sr-only|visually-?hidden|visuallyhidden|screen-?reader(?:-text|-only)?|a11y-hidden|u-hidden|is-hidden|noprint|d-none|headerlink|heading-anchor|anchorjs-link|hash-link|mw-editsection|mw-jump-link|gutter|lineno|linenos|line-numbers-rows|linenodiv)(?:\s|$)/i;

const hiddenStyle =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*(?:0?\.0\d*|0|[0-4](?:\.\d+)?%)\s*(?:;|!|$)|font-size\s*:\s*(?:0|(?:0|1|0?\.\d+)(?:px|pt)|0?\.0\d*r?em|[0-9](?:\.\d+)?%)\s*(?:;|!|$)|(?:left|top|text-indent)\s*:\s*-\d{4,})/i;

/** True if a browser would hide the element, by its own attributes. Style sheets are not read. */
export function isHidden(attributes: ReadonlyMap<string, string>): boolean {
  if (attributes.size === 0) return false;
  if (attributes.has('hidden') || attributes.get('aria-hidden') === 'true') return true;
  if (hiddenRoles.has(attributes.get('role') ?? '')) return true;
  const className = attributes.get('class');
  if (className !== undefined && hiddenClass.test(className.slice(0, 2000))) return true;
  const style = attributes.get('style');
  return style !== undefined && hiddenStyle.test(style.slice(0, 2000));
}
