import { oneLine } from '../../base/text.ts';
import { type Reading, type ReadOptions, truncatedParts } from '../document.ts';
import { cpuMs } from '../reader-limits.ts';
import { prefixedAttribute, skipElements, type XmlHandler } from '../xml/walk-xml.ts';
import { readAttached } from './attached-text.ts';
import { createFlow, createListItems, type Flow } from './flow.ts';
import { type OoxmlPackage, openOoxml, pictureText } from './ooxml-package.ts';
import { workbookReader } from './xlsx.ts';

/** Reads a presentation: each slide is a page, with its title first and the speaker's notes last. */
export function readPptx(bytes: Uint8Array, options: ReadOptions): Reading {
  const document = openOoxml(bytes);
  const slides = slidesOf(document);
  const flow = createFlow(options.mode, options.charsMax);
  let read = 0;
  for (const slide of slides) {
    if (flow.isFull || cpuMs() > options.stopAt) break;
    read += 1;
    flow.startPage(read);
    if (!document.walk(slide, skipElements(skippedElements, createSlideHandler(flow)))) continue;
    flow.endSlide(`Slide ${read}`);
    readSpeakerNotes(document, slide, flow);
    for (const text of readAttached(document, slide, workbookReader(options))) flow.addParagraph(text);
  }
  const properties = document.readProperties();
  const output = flow.finish();
  return {
    ...properties,
    title: properties.title ?? flow.topHeading,
    ...output,
    pages: slides.length,
    truncated: truncatedParts(read, slides.length, 'slides', output.truncated),
  };
}

const skippedElements = new Set(['Fallback', 'extLst']);
/** Roles of placeholders that repeat on every slide: its number, the date, the footer. */
const repeatedRoles = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);
const titleRoles = new Set(['title', 'ctrTitle']);

function slidesOf(document: OoxmlPackage): string[] {
  const targets = new Map(document.relationsOf(document.main).map(({ id, target }) => [id, target]));
  const slides: string[] = [];
  document.walk(document.main, {
    open(name, attributes) {
      if (name !== 'sldId') return;
      const target = targets.get(prefixedAttribute(attributes, 'id') ?? '');
      if (target !== undefined) slides.push(target);
    },
  });
  return slides;
}

function readSpeakerNotes(document: OoxmlPackage, slide: string, flow: Flow): void {
  const notes = document.relationsOf(slide).find(({ type }) => type === 'notesSlide')?.target;
  let text = '';
  let role = '';
  let inText = false;
  document.walk(notes, {
    open(name, attributes) {
      if (name === 'sp') role = '';
      else if (name === 'ph') role = attributes['type'] ?? 'obj';
      else if (name === 't') inText = true;
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'p') text += ' ';
    },
    text: (part) => {
      if (inText && role === 'body' && text.length < 100_000) text += part;
    },
  });
  if (text.trim() !== '') flow.addParagraph(`Notes: ${oneLine(text)}`);
}

/** Reads the shapes of a slide. Body paragraphs are list items by default; other paragraphs are not. */
function createSlideHandler(flow: Flow): XmlHandler {
  let role: string | null = null;
  let hasBullet: boolean | null = null;
  let level = 0;
  let inText = false;
  let columns = 1;
  const items = createListItems();
  const endParagraph = () => {
    const isItem = hasBullet ?? (role === 'body' || role === 'obj');
    if (role !== null && titleRoles.has(role)) flow.endParagraph({ heading: 1 });
    else flow.endParagraph({ container: isItem ? items.add(level, null) : items.endList() });
  };
  return {
    open(name, attributes) {
      if (name === 'sp') {
        role = null;
        items.endList();
      } else if (name === 'ph') role = attributes['type'] ?? 'obj';
      else if (name === 'p') {
        hasBullet = null;
        level = 0;
      } else if (name === 'pPr') level = Math.min(Math.max(0, Number(attributes['lvl'] ?? 0) || 0), 8);
      else if (name === 'buNone') hasBullet = false;
      else if (name === 'buChar' || name === 'buAutoNum') hasBullet = true;
      else if (name === 't') inText = true;
      else if (name === 'br') flow.addText('\n');
      else if (name === 'cNvPr') {
        // Starts a shape or picture, whose role (`ph`) comes later.
        role = null;
        flow.addText(pictureText(attributes));
        endParagraph();
      } else if (name === 'tbl') {
        role = null;
        flow.openTable();
      } else if (name === 'tr') flow.openRow();
      else if (name === 'tc') {
        columns = Number(attributes['gridSpan'] ?? 1) || 1;
        if (attributes['hMerge'] !== '1') flow.openCell();
      }
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'p') endParagraph();
      else if (name === 'tc') flow.closeCell(columns);
      else if (name === 'tbl') flow.closeTable();
    },
    text(text) {
      if (inText && !repeatedRoles.has(role ?? '')) flow.addText(text);
    },
    isDone: () => flow.isFull,
  };
}
