import type { PageElement, PageNode } from './page-tree.ts';

/** Returns the text of a code block as written, with spaces and line breaks. */
export function verbatimText(element: PageElement): string {
  const parts: string[] = [];
  const stack: PageNode[] = [element];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === 'string') parts.push(node);
    else if (node.tag === 'br') parts.push('\n');
    else if (!node.isDropped) {
      // Some highlighters put every line into a block element, without line breaks.
      if (/^(?:div|li|tr|p)$/.test(node.tag) && parts.length > 0 && parts.at(-1)?.endsWith('\n') === false)
        parts.push('\n');
      for (const child of node.children.toReversed()) stack.push(child);
    }
  }
  return trimLines(parts.join('').replaceAll('\r\n', '\n'));
}

/** Removes leading empty lines and trailing white space. Keeps the indent of the first line. */
function trimLines(text: string): string {
  const trimmed = text.trimEnd();
  const start = trimmed.length - trimmed.trimStart().length;
  const newline = trimmed.lastIndexOf('\n', start);
  return start === 0 || newline === -1 ? trimmed : trimmed.slice(newline + 1);
}

/** Reads the language from a class such as `language-ts` on the `pre`, its first child or the highlighter's wrapper. */
export function codeLanguage(pre: PageElement): string | null {
  const first = pre.children.find((child) => typeof child !== 'string');
  const nodes = [first, pre, pre.parent, pre.parent?.parent];
  for (const node of nodes) {
    if (!node || typeof node === 'string') continue;
    const fromAttribute = node.attributes.get('data-lang') ?? node.attributes.get('data-language');
    const fromClass = /(?:^|[\s-])(?:language|lang|highlight-source|brush:)-?\s?([\w+#.-]{1,20})/i.exec(
      (node.attributes.get('class') ?? '').slice(0, 400),
    )?.[1];
    const language = (fromAttribute ?? fromClass ?? '').toLowerCase();
    if (/^[\w+#.-]{1,20}$/.test(language)) return language;
  }
  return null;
}
