import {
  type DefaultTreeAdapterMap,
  type DefaultTreeAdapterTypes,
  defaultTreeAdapter,
  parse,
  type TreeAdapter,
} from 'parse5';
import { CarrelError } from '../../base/errors.ts';
import { isHidden, neverContent } from './hidden.ts';
import { isInvisible, type Paint, pagePaint, paintOf } from './paint.ts';

export interface PageElement {
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly parent: PageElement | null;
  readonly children: PageNode[];
  /** Index among the parent's children. */
  readonly position: number;
  /** Index among `Page.elements`. */
  readonly order: number;
  /** True if the element had a field or button as a direct child, which the tree omits. */
  hasControl: boolean;
  /** True if the element is omitted from the text, with everything in it. */
  isDropped: boolean;
}

export type PageNode = PageElement | string;

export interface Page {
  body: PageElement;
  /** `body` and every element in it, in document order: parents before children. */
  elements: PageElement[];
  metadata: PageMetadata;
}

export interface PageMetadata {
  title: string | null;
  language: string | null;
  baseHref: string | null;
  /** Content of each `meta`, by its `property`, `name` or `itemprop` in lower case. If a name repeats, the first counts. */
  metas: ReadonlyMap<string, string>;
}

/** Max nodes of a page. Real pages have a few thousand. */
const nodesMax = 400_000;

/**
 * Parses a page and keeps what can be content: no scripts, no controls, nothing hidden. Neither the parser nor the walk
 * recurses, so deep nesting is harmless.
 */
export function buildPage(html: string): Page {
  const { adapter, finish } = limitedAdapter();
  const document = parse(html, { treeAdapter: adapter });
  finish();
  const metadata = { title: null as string | null, language: null as string | null, baseHref: null as string | null };
  const metas = new Map<string, string>();
  const body = newElement('body', [], null, 0);
  const elements = [body];
  const stack: { from: DefaultTreeAdapterTypes.ParentNode; next: number; into: PageElement; paint: Paint }[] = [
    { from: document, next: 0, into: body, paint: pagePaint },
  ];
  for (let frame = stack.at(-1); frame; frame = stack.at(-1)) {
    const node = frame.from.childNodes[frame.next];
    frame.next += 1;
    if (!node) {
      stack.pop();
      // Releases the nodes that were walked, so that both trees are never completely in memory at once.
      frame.from.childNodes = [];
    } else if ('value' in node) {
      if (!isInvisible(frame.paint)) frame.into.children.push(node.value);
    } else if ('tagName' in node) {
      collectMetadata(node);
      const into = enter(node, frame.into);
      if (into) stack.push({ from: node, next: 0, into, paint: paintOf(node.tagName, node.attrs, frame.paint) });
    }
  }
  return { body, elements, metadata: { ...metadata, metas } };

  /** Adds the element to the tree. Returns null to skip it with its children. `html` and `body` become one element. */
  function enter(node: DefaultTreeAdapterTypes.Element, parent: PageElement): PageElement | null {
    if (node.tagName === 'html' || node.tagName === 'body') return body;
    if (neverContent.has(node.tagName) && !isAccordionButton(node.tagName, parent.tag)) {
      parent.hasControl ||= controls.has(node.tagName);
      return null;
    }
    const element = newElement(node.tagName, node.attrs, parent, elements.length);
    if (isHidden(element.attributes)) return null;
    parent.children.push(element);
    elements.push(element);
    return element;
  }

  function collectMetadata(node: DefaultTreeAdapterTypes.Element): void {
    if (node.tagName === 'html') metadata.language ??= attributeOf(node, 'lang') ?? attributeOf(node, 'xml:lang');
    if (node.tagName === 'base') metadata.baseHref ??= attributeOf(node, 'href');
    if (node.tagName === 'head') collectHead(node);
    if (node.tagName === 'meta') collectMeta(node);
  }

  /** The head is not walked as content, so its children are read here. */
  function collectHead(head: DefaultTreeAdapterTypes.Element): void {
    for (const node of head.childNodes) {
      if (!('tagName' in node)) continue;
      if (node.tagName === 'title') {
        metadata.title ??= node.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
      }
      collectMetadata(node);
    }
  }

  function collectMeta(meta: DefaultTreeAdapterTypes.Element): void {
    const name = attributeOf(meta, 'property') ?? attributeOf(meta, 'name') ?? attributeOf(meta, 'itemprop');
    const content = attributeOf(meta, 'content')?.trim();
    if (name && content && !metas.has(name.toLowerCase())) metas.set(name.toLowerCase(), content);
  }
}

const controls = new Set(['button', 'input', 'select', 'textarea']);

/** True for a button that is the title of a section: FAQ pages put the question into a button that opens the answer. */
function isAccordionButton(tag: string, parentTag: string): boolean {
  return tag === 'button' && /^(?:h[1-6]|dt|summary)$/.test(parentTag);
}

type Adapter = TreeAdapter<DefaultTreeAdapterMap>;

/**
 * Builds parse5's own tree, but limits its size, because misnested formatting elements can multiply a small page. Joins words,
 * which parse5 delivers one by one, into large pieces: a chain of a million small strings needs much memory.
 */
function limitedAdapter(): { adapter: Adapter; finish: () => void } {
  const pieceChars = 65_536;
  let nodes = 0;
  let lastText: DefaultTreeAdapterTypes.TextNode | null = null;
  let pending = '';

  const adapter: Adapter = {
    ...defaultTreeAdapter,
    createElement(tagName, namespaceURI, attributes) {
      count();
      return defaultTreeAdapter.createElement(tagName, namespaceURI, attributes);
    },
    insertText(parent, text) {
      const previous = parent.childNodes.at(-1);
      if (previous && defaultTreeAdapter.isTextNode(previous)) append(previous, text);
      else {
        count();
        defaultTreeAdapter.appendChild(parent, defaultTreeAdapter.createTextNode(text));
      }
    },
  };
  return { adapter, finish };

  function count(): void {
    nodes += 1;
    if (nodes <= nodesMax) return;
    const message = `This page has more than ${nodesMax} elements, the limit. Try another page.`;
    throw new CarrelError('extraction_too_complex', message);
  }

  function append(node: DefaultTreeAdapterTypes.TextNode, text: string): void {
    if (node !== lastText) finish();
    lastText = node;
    pending += text;
    if (pending.length > pieceChars) finish();
  }

  /** Appends the pending text. Reading a character makes V8 flatten the chain of strings. */
  function finish(): void {
    if (lastText && pending.charCodeAt(0) >= 0) lastText.value += pending;
    lastText = null;
    pending = '';
  }
}

/** The attributes that later steps read. Others are not stored. */
const usedAttributes = new Set(
  'id class role style hidden aria-hidden href src alt lang colspan rowspan start value itemprop data-lang data-language type rel datetime'.split(
    ' ',
  ),
);

const noAttributes: ReadonlyMap<string, string> = new Map();

function newElement(
  tag: string,
  attributes: { name: string; value: string }[],
  parent: PageElement | null,
  order: number,
): PageElement {
  const used = attributes.filter(({ name }) => usedAttributes.has(name));
  return {
    tag,
    attributes: used.length === 0 ? noAttributes : new Map(used.map(({ name, value }) => [name, value])),
    parent,
    children: [],
    position: parent?.children.length ?? 0,
    order,
    hasControl: false,
    isDropped: false,
  };
}

function attributeOf(node: DefaultTreeAdapterTypes.Element, name: string): string | null {
  return node.attrs.find((attribute) => attribute.name === name)?.value ?? null;
}
