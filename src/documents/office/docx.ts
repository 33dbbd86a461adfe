import type { Reading, ReadOptions } from '../document.ts';
import type { Container } from '../html/blocks.ts';
import { attributeOf, skipElements, type XmlHandler } from '../xml/walk-xml.ts';
import { readAttached } from './attached-text.ts';
import { type DocxStyles, readDocxStyles } from './docx-styles.ts';
import { createFlow, createListItems, type Flow } from './flow.ts';
import { type OoxmlPackage, openOoxml, pictureText, valOf } from './ooxml-package.ts';
import { workbookReader } from './xlsx.ts';

/**
 * Reads a Word document: headings, paragraphs, lists, tables, text boxes. Then come footnotes, endnotes and attachments:
 * diagrams, charts, comments, embedded workbooks.
 */
export function readDocx(bytes: Uint8Array, options: ReadOptions): Reading {
  const document = openOoxml(bytes);
  const relations = document.relationsOf(document.main);
  const partOf = (type: string) => relations.find((relation) => relation.type === type)?.target;
  const styles = readDocxStyles(document, partOf('styles'), partOf('numbering'));
  const flow = createFlow(options.mode, options.charsMax);
  const body = createBody(flow, styles);
  document.walk(document.main, skipElements(skippedElements, body.handler));
  for (const kind of ['footnote', 'endnote'] as const) {
    readNotes(document, partOf(`${kind}s`), flow, styles, (id) => body.noteNumber(kind, id));
  }
  for (const text of readAttached(document, document.main, workbookReader(options))) flow.addParagraph(text);
  const properties = document.readProperties();
  return {
    ...properties,
    title: properties.title ?? body.title() ?? flow.topHeading,
    ...flow.finish(),
  };
}

/** Elements whose text is not part of the document. `Fallback` repeats the preceding `Choice` for older programs. */
const skippedElements = new Set(
  'Fallback del moveFrom delText instrText delInstrText sectPr pPrChange rPrChange tblPrChange trPrChange tcPrChange'.split(
    ' ',
  ),
);

interface Paragraph {
  style: string;
  outline: number | null;
  list: { id: string; level: number } | null;
}

/** Reads footnotes or endnotes. Those with a `type` are separators, not notes. */
function readNotes(
  document: OoxmlPackage,
  part: string | undefined,
  flow: Flow,
  styles: DocxStyles,
  numberOf: (id: string) => number,
): void {
  const { handler } = createBody(flow, styles);
  let isNote = false;
  document.walk(
    part,
    skipElements(skippedElements, {
      open(name, attributes) {
        if (name === 'footnote' || name === 'endnote') {
          isNote = attributeOf(attributes, 'type') === undefined;
          if (isNote) flow.addText(`Note ${numberOf(attributeOf(attributes, 'id') ?? '')}: `);
        } else if (isNote) handler.open?.(name, attributes);
      },
      close(name) {
        if (name === 'footnote' || name === 'endnote') isNote = false;
        else if (isNote) handler.close?.(name);
      },
      text(text) {
        if (isNote) handler.text?.(text);
      },
      isDone: () => flow.isFull,
    }),
  );
}

function createBody(flow: Flow, styles: DocxStyles) {
  const openParagraphs: Paragraph[] = [];
  const lists = createLists(styles);
  let runDepth = 0;
  let inText = false;
  let columns = 1;
  let title: string | null = null;
  let titleText = '';
  const notes = new Map<string, number>();
  /** Numbers notes in the order in which the text refers to them. Their ids are arbitrary. */
  const noteNumber = (kind: string, id: string): number => {
    const key = `${kind} ${id}`;
    const number = notes.get(key) ?? notes.size + 1;
    notes.set(key, number);
    return number;
  };

  const endParagraph = () => {
    const paragraph = openParagraphs.at(-1);
    if (!paragraph) return;
    if (styles.isTitle(paragraph.style)) title ??= titleText.trim() || null;
    titleText = '';
    const heading = styles.headingLevel(paragraph.style, paragraph.outline);
    const list = paragraph.list ?? styles.listOf(paragraph.style);
    if (heading > 0) flow.endParagraph({ heading });
    else flow.endParagraph({ container: lists.itemFor(list) });
  };
  const addText = (text: string) => {
    if (title === null) titleText += text;
    flow.addText(text);
  };
  const handler: XmlHandler = {
    open(name, attributes) {
      const paragraph = openParagraphs.at(-1);
      switch (name) {
        case 'p':
          // A text box may be inside a paragraph. The text before the box then becomes a separate paragraph.
          endParagraph();
          openParagraphs.push({ style: '', outline: null, list: null });
          break;
        case 'pStyle':
          if (paragraph) paragraph.style = valOf(attributes);
          break;
        case 'outlineLvl':
          if (paragraph) paragraph.outline = Number(valOf(attributes));
          break;
        case 'numPr':
          if (paragraph) paragraph.list = { id: '', level: 0 };
          break;
        case 'ilvl':
          if (paragraph?.list) paragraph.list.level = Number(valOf(attributes)) || 0;
          break;
        case 'numId':
          if (paragraph?.list) paragraph.list.id = valOf(attributes);
          break;
        case 'r':
          runDepth += 1;
          break;
        case 't':
          inText = runDepth > 0;
          break;
        case 'tab':
          if (runDepth > 0) addText(' ');
          break;
        case 'br':
        case 'cr':
          if (runDepth > 0) addText('\n');
          break;
        case 'docPr':
          addText(pictureText(attributes));
          break;
        case 'noBreakHyphen':
          addText('-');
          break;
        case 'footnoteReference':
        case 'endnoteReference':
          addText(` (note ${noteNumber(name.slice(0, -'Reference'.length), attributeOf(attributes, 'id') ?? '')})`);
          break;
        case 'tbl':
          flow.openTable();
          break;
        case 'tr':
          flow.openRow();
          break;
        case 'tc':
          columns = 1;
          flow.openCell();
          break;
        case 'gridSpan':
          columns = Number(valOf(attributes)) || 1;
          break;
      }
    },
    close(name) {
      if (name === 'p') {
        endParagraph();
        openParagraphs.pop();
      } else if (name === 'r') runDepth -= 1;
      else if (name === 't') inText = false;
      else if (name === 'tc') flow.closeCell(columns);
      else if (name === 'tbl') flow.closeTable();
    },
    text(text) {
      if (inText) addText(text);
    },
    isDone: () => flow.isFull,
  };
  return { handler, title: () => title, noteNumber };
}

/** Derives nesting and numbers of lists. Word has no list elements, only paragraphs with a list id and a level. */
function createLists(styles: DocxStyles) {
  const counts = new Map<string, number>();
  const items = createListItems();
  return {
    itemFor(list: { id: string; level: number } | null): Container | null {
      if (!list || list.id === '' || list.id === '0') return items.endList();
      const level = Math.min(Math.max(0, list.level), 8);
      for (let deeper = level + 1; deeper <= 8; deeper += 1) counts.delete(`${list.id} ${deeper}`);
      const key = `${list.id} ${level}`;
      const number = (counts.get(key) ?? styles.startOf(list.id, level) - 1) + 1;
      counts.set(key, number);
      return items.add(level, styles.isNumbered(list.id, level) ? number : null);
    },
  };
}
