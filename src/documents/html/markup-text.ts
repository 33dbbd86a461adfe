import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

/** Max UTF-16 units of markup to parse: this runs on the serving thread. */
const markupCharsMax = 4000;

/** The text of a short piece of markup, such as a search result's title: without tags, entities decoded once. */
export function markupText(markup: string): string {
  const waiting: DefaultTreeAdapterTypes.Node[] = [parseFragment(markup.slice(0, markupCharsMax))];
  let text = '';
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ('value' in node) text += node.value;
    if (!('childNodes' in node) || ['script', 'style', 'template'].includes(node.nodeName)) continue;
    if (node.nodeName === 'br' || node.nodeName === 'p') text += ' ';
    waiting.push(...node.childNodes.toReversed());
  }
  return text;
}
