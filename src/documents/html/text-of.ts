import { oneLine } from '../../base/text.ts';
import type { PageElement, PageNode } from './page-tree.ts';

/** Max nodes visited. Without a limit, calls at every level of a deep page would take quadratic time. */
const stepsMax = 200;

/** Returns the start of an element's text, on one line. */
export function textOf(element: PageElement, charsMax: number): string {
  const parts: string[] = [];
  let length = 0;
  const stack: PageNode[] = [element];
  let steps = 0;
  for (let node = stack.pop(); node !== undefined && length < charsMax && steps < stepsMax; node = stack.pop()) {
    steps += 1;
    if (typeof node === 'string') {
      parts.push(node.slice(0, charsMax));
      length += node.trim().length;
    } else if (!node.isDropped) {
      for (const child of node.children.toReversed()) stack.push(child);
    }
  }
  return oneLine(parts.join('')).slice(0, charsMax);
}
