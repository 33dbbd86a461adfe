import type { Container } from '../html/blocks.ts';
import { attributeOf, type XmlAttributes, type XmlHandler } from '../xml/walk-xml.ts';
import { type Flow, listItem } from './flow.ts';

/** Max spaces that one `text:s` element stands for. */
const blanksMax = 100;
const notesMax = 10_000;
/** Classes of frames that repeat on every slide. */
const repeatedFrames = new Set(['page-number', 'date-time', 'header', 'footer']);

interface List {
  style: string;
  number: number;
  item: Container | null;
  parent: List | null;
  level: number;
}

type OdfStyles = ReturnType<typeof createOdfStyles>;

/** Finds the styles of titles and numbered lists. `handler` reads `styles.xml`, and the styles at the start of the content. */
export function createOdfStyles() {
  const parents = new Map<string, string>();
  const numbered = new Map<string, Set<number>>();
  let list = new Set<number>();
  const handler: XmlHandler = {
    open(name, attributes) {
      if (name === 'style') {
        parents.set(attributeOf(attributes, 'name') ?? '', attributeOf(attributes, 'parent-style-name') ?? '');
      } else if (name === 'list-style') {
        list = new Set();
        numbered.set(attributeOf(attributes, 'name') ?? '', list);
      } else if (name === 'list-level-style-number' && attributeOf(attributes, 'num-format') !== '') {
        list.add(Number(attributeOf(attributes, 'level')));
      }
    },
  };
  return {
    handler,
    isTitle: (style: string) => style === 'Title' || parents.get(style) === 'Title',
    isNumbered: (name: string, level: number) => numbered.get(name)?.has(level) ?? false,
  };
}

/** Reads the body of a text or presentation. Both have paragraphs, lists and tables; a presentation has them on slides. */
export function createOdfText(flow: Flow, styles: OdfStyles, kind: 'odt' | 'odp') {
  const notes: string[] = [];
  const headings: number[] = [];
  const frames: string[] = [];
  const spans: number[] = [];
  let list: List | null = null;
  // The last item with text on each level. On slides, each item is a separate list, and its outer items are empty.
  let lastItems: Container[] = [];
  let paragraphDepth = 0;
  let slides = 0;
  let endNote: (() => string) | undefined;
  let isNotesStart = false;

  const addText = (text: string) => {
    if (paragraphDepth > 0 && !repeatedFrames.has(frames.at(-1) ?? '')) flow.addText(text);
  };
  const openParagraph = (heading: number) => {
    // A frame inside a paragraph contains paragraphs. The text before the frame becomes a separate paragraph.
    if (paragraphDepth > 0 && !endNote) endParagraph();
    paragraphDepth += 1;
    headings.push(heading);
    if (isNotesStart) flow.addText('Notes: ');
    isNotesStart = false;
  };
  const endParagraph = () => {
    const heading = headings.at(-1) ?? 0;
    lastItems = list?.item ? [...lastItems.slice(0, list.level - 1), list.item] : [];
    flow.endParagraph(heading > 0 ? { heading } : { container: list?.item ?? null });
  };
  const headingOf = (attributes: XmlAttributes): number => {
    if (frames.at(-1) === 'title') return 1;
    return styles.isTitle(attributeOf(attributes, 'style-name') ?? '') ? 1 : 0;
  };

  const handler: XmlHandler = {
    open(name, attributes) {
      styles.handler.open?.(name, attributes);
      switch (name) {
        case 'h':
          openParagraph(frames.at(-1) === 'title' ? 1 : Number(attributeOf(attributes, 'outline-level')) || 1);
          break;
        case 'p':
          openParagraph(headingOf(attributes));
          break;
        case 's':
          addText(' '.repeat(Math.min(Number(attributeOf(attributes, 'c') ?? 1) || 1, blanksMax)));
          break;
        case 'tab':
          addText(' ');
          break;
        case 'line-break':
          addText('\n');
          break;
        case 'list':
          list = openList(list, attributes);
          break;
        case 'list-item':
          if (list) openItem(list);
          break;
        case 'note-citation':
          addText(' (note ');
          break;
        case 'note-body':
          endNote ??= flow.capture();
          break;
        case 'table':
          flow.openTable();
          break;
        case 'table-row':
          flow.openRow();
          break;
        case 'table-cell':
        case 'covered-table-cell':
          spans.push(Number(attributeOf(attributes, 'number-columns-repeated') ?? 1) || 1);
          flow.openCell();
          break;
        case 'page':
          if (kind === 'odp') {
            slides += 1;
            flow.startPage(slides);
          }
          break;
        case 'frame':
          frames.push(attributeOf(attributes, 'class') ?? '');
          lastItems = [];
          break;
        case 'notes':
          isNotesStart = true;
          break;
      }
    },
    close(name) {
      if (name === 'h' || name === 'p') {
        endParagraph();
        headings.pop();
        paragraphDepth -= 1;
      } else if (name === 'list') list = list?.parent ?? null;
      else if (name === 'list-item' && list) list.item = list.parent?.item ?? null;
      else if (name === 'note-citation') addText(')');
      else if (name === 'note-body') closeNote();
      else if (name === 'table-cell' || name === 'covered-table-cell') flow.closeCell(spans.pop());
      else if (name === 'table') flow.closeTable();
      else if (name === 'frame') frames.pop();
      else if (name === 'notes') isNotesStart = false;
      else if (name === 'page' && kind === 'odp') flow.endSlide(`Slide ${slides}`);
    },
    text: addText,
    isDone: () => flow.isFull,
  };
  return { handler, slides: () => slides, finish };

  function openItem(list: List): void {
    list.number += 1;
    const parent = lastItems.slice(0, list.level - 1).at(-1) ?? null;
    list.item = listItem(parent, styles.isNumbered(list.style, list.level) ? list.number : null);
  }

  function closeNote(): void {
    const text = endNote?.() ?? '';
    endNote = undefined;
    if (notes.length < notesMax) notes.push(text);
  }

  function finish(): void {
    for (const [index, text] of notes.entries()) flow.addParagraph(`Note ${index + 1}: ${text}`);
  }
}

/** Opens a list. A nested list has the outer list's style, unless it names its own. */
function openList(parent: List | null, attributes: XmlAttributes): List {
  const style = attributeOf(attributes, 'style-name') ?? parent?.style ?? '';
  return { style, number: 0, item: parent?.item ?? null, parent, level: (parent?.level ?? 0) + 1 };
}
