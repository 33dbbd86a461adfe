import { oneLine } from '../../base/text.ts';
import type { ReadOptions } from '../document.ts';
import type { XmlHandler } from '../xml/walk-xml.ts';
import { readChart } from './chart-text.ts';
import type { OoxmlPackage, Relation } from './ooxml-package.ts';

/** Max paragraphs attached to one part, and max UTF-16 units of each. */
const paragraphsMax = 5_000;
const paragraphUnitsMax = 20_000;

/** Reads an embedded document, without the documents embedded in it. */
export type ReadEmbedded = (bytes: Uint8Array, name: string, options: ReadOptions) => string | undefined;

/**
 * Reads what is attached to a part (a Word document, slide or sheet), as paragraphs: diagram text, charts with their figures,
 * text boxes, comments, and embedded workbooks.
 */
export function readAttached(
  document: OoxmlPackage,
  part: string,
  options: ReadOptions,
  readEmbedded?: ReadEmbedded,
): string[] {
  return readRelations(document, document.relationsOf(part), options, readEmbedded);
}

function readRelations(
  document: OoxmlPackage,
  relations: readonly Relation[],
  options: ReadOptions,
  readEmbedded?: ReadEmbedded,
): string[] {
  const found: string[] = [];
  for (const relation of relations) {
    if (found.length >= paragraphsMax) break;
    found.push(...attachedBy(document, relation, options, readEmbedded));
  }
  return found.slice(0, paragraphsMax).map((text) => text.slice(0, paragraphUnitsMax));
}

function attachedBy(
  document: OoxmlPackage,
  { type, target }: Relation,
  options: ReadOptions,
  readEmbedded: ReadEmbedded | undefined,
): string[] {
  switch (type) {
    case 'chart':
      return readChart(document, target);
    case 'diagramData':
      return prefixed('Diagram: ', [readParagraphs(document, target).join('; ')]);
    case 'drawing':
      return [
        ...prefixed('Text box: ', readParagraphs(document, target)),
        // Drawings inside drawings are skipped: they could form a cycle.
        ...readRelations(
          document,
          document.relationsOf(target).filter((inner) => inner.type !== 'drawing'),
          options,
        ),
      ];
    case 'comments':
    case 'threadedComment':
      return prefixed('Comment: ', readComments(document, target));
    case 'package': {
      const bytes = readEmbedded && document.bytesOf(target);
      const text = bytes && readEmbedded(bytes, target, options);
      return text ? [`Embedded document:\n\n${text}`] : [];
    }
    default:
      return [];
  }
}

function prefixed(prefix: string, texts: readonly string[]): string[] {
  return texts.flatMap((text) => (text.trim() === '' ? [] : [`${prefix}${oneLine(text)}`]));
}

/** Reads the paragraphs of shapes: `a:p` elements with runs of `a:t`. */
function readParagraphs(document: OoxmlPackage, part: string): string[] {
  const texts: string[] = [];
  document.walk(part, collecting('p', texts));
  return texts;
}

/** Reads comments of Word (`w:comment`), PowerPoint (`p:cm`) and Excel (`comment`, `threadedComment`), one text each. */
function readComments(document: OoxmlPackage, part: string): string[] {
  const texts: string[] = [];
  for (const element of ['comment', 'cm', 'threadedComment']) document.walk(part, collecting(element, texts));
  return texts;
}

/** Creates a handler that collects the text in `t` or `text` inside each element of this name. */
function collecting(element: string, texts: string[]): XmlHandler {
  let depth = 0;
  let current = '';
  let inText = 0;
  return {
    open(name) {
      if (name === element) {
        if (depth === 0) current = '';
        depth += 1;
      } else if (name === 't' || name === 'text') inText += 1;
      else if (name === 'p' || name === 'br') current += ' ';
    },
    close(name) {
      if (name === element) {
        depth -= 1;
        if (depth === 0 && current.trim() !== '') texts.push(current.trim());
      } else if (name === 't' || name === 'text') inText -= 1;
    },
    text(text) {
      if (depth > 0 && inText > 0 && current.length < paragraphUnitsMax) current += text;
    },
    isDone: () => texts.length >= paragraphsMax,
  };
}
