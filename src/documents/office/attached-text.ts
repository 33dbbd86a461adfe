import { isCarrelError } from '../../base/errors.ts';
import { oneLine } from '../../base/text.ts';
import type { XmlHandler } from '../xml/walk-xml.ts';
import { readChart } from './chart-text.ts';
import type { OoxmlPackage, Relation } from './ooxml-package.ts';

/** Max paragraphs attached to one part, and max UTF-16 units of each. */
const paragraphsMax = 5_000;
const paragraphUnitsMax = 20_000;

/** Returns the text of a workbook inside a document. */
export type ReadWorkbook = (bytes: Uint8Array) => string;

/**
 * Reads the attachments of a part (a Word document, slide or sheet) as paragraphs: diagrams, charts, text boxes, comments, and
 * embedded workbooks if `readWorkbook` is given.
 */
export function readAttached(
  document: OoxmlPackage,
  part: string,
  readWorkbook?: ReadWorkbook,
  relations: readonly Relation[] = document.relationsOf(part),
): string[] {
  const paragraphs: string[] = [];
  for (const relation of relations) {
    if (paragraphs.length >= paragraphsMax) break;
    paragraphs.push(...readRelation(document, relation, readWorkbook));
  }
  return paragraphs.slice(0, paragraphsMax).map((text) => text.slice(0, paragraphUnitsMax));
}

function readRelation(document: OoxmlPackage, { type, target }: Relation, readWorkbook?: ReadWorkbook): string[] {
  switch (type) {
    case 'chart':
      return readChart(document, target);
    case 'diagramData':
      return withPrefix('Diagram: ', [readParagraphs(document, target).join('; ')]);
    case 'drawing': {
      // Drawings inside drawings are skipped: they could form a cycle.
      const inner = document.relationsOf(target).filter((relation) => relation.type !== 'drawing');
      const texts = withPrefix('Text box: ', readParagraphs(document, target));
      return [...texts, ...readAttached(document, target, undefined, inner)];
    }
    case 'comments':
    case 'threadedComment':
      return withPrefix('Comment: ', readComments(document, target));
    case 'package': {
      const text = readWorkbook && readEmbedded(document, target, readWorkbook);
      return text ? [`Embedded document:\n\n${text}`] : [];
    }
    default:
      return [];
  }
}

/** Reads an embedded workbook. Returns undefined if the workbook can't be read; the document still can. */
function readEmbedded(document: OoxmlPackage, part: string, readWorkbook: ReadWorkbook): string | undefined {
  const bytes = part.toLowerCase().endsWith('.xlsx') ? document.bytesOf(part) : undefined;
  try {
    return bytes && readWorkbook(bytes);
  } catch (error) {
    if (isCarrelError(error)) return undefined;
    throw error;
  }
}

function withPrefix(prefix: string, texts: readonly string[]): string[] {
  return texts.flatMap((text) => (text.trim() === '' ? [] : [`${prefix}${oneLine(text)}`]));
}

/** Reads the paragraphs of shapes: `a:p` elements with runs of `a:t`. */
function readParagraphs(document: OoxmlPackage, part: string): string[] {
  const texts: string[] = [];
  document.walk(part, createTextCollector('p', texts));
  return texts;
}

/** Reads comments of Word (`w:comment`), PowerPoint (`p:cm`) and Excel (`comment`, `threadedComment`), one text each. */
function readComments(document: OoxmlPackage, part: string): string[] {
  const texts: string[] = [];
  for (const element of ['comment', 'cm', 'threadedComment']) document.walk(part, createTextCollector(element, texts));
  return texts;
}

/** Creates a handler that collects the text in `t` or `text` inside each element of this name. */
function createTextCollector(element: string, texts: string[]): XmlHandler {
  let depth = 0;
  let current = '';
  let textDepth = 0;
  return {
    open(name) {
      if (name === element) {
        if (depth === 0) current = '';
        depth += 1;
      } else if (name === 't' || name === 'text') textDepth += 1;
      else if (name === 'p' || name === 'br') current += ' ';
    },
    close(name) {
      if (name === element) {
        depth -= 1;
        if (depth === 0 && current.trim() !== '') texts.push(current.trim());
      } else if (name === 't' || name === 'text') textDepth -= 1;
    },
    text(text) {
      if (depth > 0 && textDepth > 0 && current.length < paragraphUnitsMax) current += text;
    },
    isDone: () => texts.length >= paragraphsMax,
  };
}
