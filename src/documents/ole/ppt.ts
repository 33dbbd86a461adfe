import { CarrelError } from '../../base/errors.ts';
import { oneLine } from '../../base/text.ts';
import { needsPassword, type Reading, type ReadOptions, truncatedParts } from '../document.ts';
import { createFlow, type Flow, listItem } from '../office/flow.ts';
import { cpuMs } from '../reader-limits.ts';
import { openCompoundFile } from './compound-file.ts';
import { readSummary } from './ole-summary.ts';
import { findLastSaved, type PptRecord, pptType as type } from './ppt-records.ts';

interface Text {
  /** Text type of [MS-PPT] 2.13.33. 0 and 6 are titles; 1, 5, 7 and 8 are bodies; 2 are notes. */
  readonly kind: number;
  readonly text: string;
}

interface Slide {
  readonly id: number;
  readonly reference: number;
  /** Texts of its placeholders. The slide refers to them by index. */
  readonly texts: readonly Text[];
}

const titleKinds = new Set([0, 6]);
const bodyKinds = new Set([1, 5, 7, 8]);
const [notesKind, otherKind] = [2, 4];
/** Instance numbers of the lists of slides and of notes. */
const [slidesInstance, notesInstance] = [0, 2];

const encryptedToken = 0xf3d1c4df;

/** Reads PowerPoint 97 to 2003 ([MS-PPT]): each slide is a page, with its title first and the speaker's notes last. */
export function readPpt(bytes: Uint8Array, options: ReadOptions): Reading {
  const root = openCompoundFile(bytes);
  const user = root.read('Current User') ?? Buffer.alloc(0);
  if (user.length >= 16 && user.readUInt32LE(12) === encryptedToken) throw needsPassword();
  const stream = root.read('PowerPoint Document') ?? Buffer.alloc(0);
  const saved = findLastSaved(stream, user.length >= 20 ? user.readUInt32LE(16) : -1);
  if (saved === undefined) {
    throw new CarrelError(
      'extraction_failed',
      'This presentation is damaged or older than PowerPoint 97. Convert it, for example with LibreOffice: ' +
        'soffice --headless --convert-to pptx <file>.',
    );
  }
  const slides = slidesOf(saved.document, slidesInstance);
  const notes = notesBySlide(slidesOf(saved.document, notesInstance), saved.find);
  const flow = createFlow(options.mode, options.charsMax);
  let read = 0;
  for (const slide of slides) {
    if (flow.isFull || cpuMs() > options.stopAt) break;
    read += 1;
    flow.startPage(read);
    addSlide(flow, slide, saved.find(slide.reference));
    flow.endSlide(`Slide ${read}`);
    const slideNotes = notes.get(slide.id);
    if (slideNotes !== undefined) flow.addParagraph(oneLine(`Notes: ${slideNotes}`));
  }
  const properties = readSummary(root);
  const output = flow.finish();
  return {
    ...properties,
    title: properties.title ?? flow.topHeading,
    ...output,
    pages: slides.length,
    truncated: truncatedParts(read, slides.length, 'slides', output.truncated),
  };
}

function addSlide(flow: Flow, { texts }: Slide, slide: PptRecord | undefined): void {
  const shapeTexts = slide === undefined ? [] : textsIn(slide, texts);
  // Some programs write placeholders without a shape. They are printed too.
  const withShape = new Set(shapeTexts);
  const withoutShape = texts.filter((text) => !withShape.has(text));
  for (const { kind, text } of [...withoutShape, ...shapeTexts]) {
    for (const line of text.split('\r')) {
      if (line.trim() === '' || line.trim() === '*') continue;
      flow.addText(line.replaceAll('\v', '\n'));
      if (titleKinds.has(kind)) flow.endParagraph({ heading: 1 });
      else flow.endParagraph({ container: bodyKinds.has(kind) ? listItem(null, null) : null });
    }
  }
}

/** Reads the slides of one of the document's lists, each with its texts. */
function slidesOf(document: PptRecord, instance: number): Slide[] {
  const slides: (Slide & { texts: Text[] })[] = [];
  let kind = otherKind;
  for (const list of document.children()) {
    if (list.type !== type.slideList || list.instance !== instance) continue;
    for (const record of list.children()) {
      if (record.type === type.slideReference && record.data.length >= 16) {
        slides.push({ id: record.data.readUInt32LE(12), reference: record.data.readUInt32LE(0), texts: [] });
      } else if (record.type === type.textKind) {
        kind = record.data.readUInt32LE(0);
        slides.at(-1)?.texts.push({ kind, text: '' });
      } else {
        const text = record.text();
        const texts = slides.at(-1)?.texts;
        if (text !== undefined && texts !== undefined) texts[Math.max(0, texts.length - 1)] = { kind, text };
      }
    }
  }
  return slides;
}

/** Reads the texts of all shapes, in file order, then the comments. */
function textsIn(container: PptRecord, placeholders: readonly Text[]): Text[] {
  const shapeTexts: Text[] = [];
  const comments: Text[] = [];
  let kind = otherKind;
  container.walk((record) => {
    if (record.type === type.textKind) kind = record.data.readUInt32LE(0);
    else if (record.type === type.textReference) {
      const text = placeholders[record.data.readUInt32LE(0)];
      if (text !== undefined) shapeTexts.push(text);
    } else if (record.type === type.comment) {
      const text = formatComment(record);
      if (text !== '') comments.push({ kind: otherKind, text: `Comment: ${text}` });
    } else {
      const text = record.text();
      if (text !== undefined) shapeTexts.push({ kind, text });
    }
  });
  return [...shapeTexts, ...comments];
}

/** Reads a comment. Its parts are numbered: 0 is the author, 1 the text. */
function formatComment(comment: PptRecord): string {
  const parts = [...comment.children()].filter((part) => part.type === type.name);
  const part = (number: number) => parts.find(({ instance }) => instance === number)?.data.toString('utf16le') ?? '';
  return part(1) === '' ? '' : `${part(1)} (${part(0)})`;
}

function notesBySlide(
  notes: readonly Slide[],
  find: (reference: number) => PptRecord | undefined,
): Map<number, string> {
  const textBySlide = new Map<number, string>();
  for (const { reference, texts } of notes) {
    const page = find(reference);
    const link = page && [...page.children()].find((record) => record.type === type.notesLink);
    if (page === undefined || link === undefined || link.data.length < 4) continue;
    const noteTexts = textsIn(page, texts).filter(({ kind, text }) => kind === notesKind && text.trim() !== '*');
    const text = noteTexts.map((each) => each.text.replace(/[\r\v]/g, ' ').trim()).join(' ');
    if (text.trim() !== '') textBySlide.set(link.data.readUInt32LE(0), text);
  }
  return textBySlide;
}
