import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

/** Max UTF-16 units of markup to parse. Kept small, because this runs on the thread that answers requests. */
const markupCharsMax = 4000;

/** Returns the text of short markup, such as a search result's title: removes tags and decodes entities once. */
export function markupText(markup: string): string {
  const stack: DefaultTreeAdapterTypes.Node[] = [parseFragment(markup.slice(0, markupCharsMax))];
  let text = '';
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ('value' in node) text += node.value;
    if (!('childNodes' in node) || ['script', 'style', 'template'].includes(node.nodeName)) continue;
    if (node.nodeName === 'br' || node.nodeName === 'p') text += ' ';
    stack.push(...node.childNodes.toReversed());
  }
  return text;
}
