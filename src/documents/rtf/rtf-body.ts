import { oneLine } from '../../base/text.ts';
import type { Container } from '../html/blocks.ts';
import { createListItems, type Flow } from '../office/flow.ts';

const notesMax = 10_000;
const noteUnitsMax = 20_000;

/** Converts RTF control words for paragraphs, styles, lists and table cells to blocks. */
export function createRtfBody(flow: Flow) {
  const headings = new Map<number, number>();
  const notes: string[] = [];
  let styleDefinition = { number: 0, level: -1, name: '' };
  let style = 0;
  let outline = -1;
  let listLevel = 0;
  let indent = 0;
  let marker = '';
  let line = '';
  let inTable = false;
  let tableState: 'none' | 'inRow' | 'betweenRows' = 'none';
  const items = createListItems();

  return {
    addText(text: string): void {
      if (text === '') return;
      if (tableState === 'betweenRows' && !inTable) closeTable();
      line += text;
    },
    /** Adds to the bullet or number of the current list item. */
    addMarker(text: string): void {
      marker += text;
    },
    /** Starts a footnote. Footnotes are numbered and printed at the end. */
    startNote(): void {
      if (notes.length < notesMax) notes.push('');
      line += ` (note ${notes.length})`;
    },
    addNote(text: string): void {
      const note = notes.pop();
      if (note !== undefined) notes.push(note.length < noteUnitsMax ? note + text : note);
    },
    /** Handles a control word of the body. */
    handleWord(name: string, value: number | null): void {
      if (name === 'par' || name === 'sect' || name === 'page') endParagraph();
      else if (name === 'pard') {
        [style, outline, listLevel, indent, inTable] = [0, -1, 0, 0, false];
      } else if (name === 's') style = value ?? 0;
      else if (name === 'outlinelevel') outline = value ?? -1;
      else if (name === 'li') indent = value ?? 0;
      else if (name === 'ilvl') listLevel = Math.min(Math.max(0, value ?? 0), 8);
      else if (name === 'intbl' || name === 'trowd') openRow(name === 'intbl');
      else if (name === 'cell') {
        openRow(true);
        endParagraph();
        flow.closeCell();
        flow.openCell();
      } else if (name === 'nestcell') line += ' ';
      else if (name === 'row' && tableState === 'inRow') tableState = 'betweenRows';
    },
    /** Handles a control word of a style definition. */
    handleStyleWord(name: string, value: number | null): void {
      if (name === 's') styleDefinition.number = value ?? 0;
      else if (name === 'outlinelevel') styleDefinition.level = value ?? -1;
    },
    nameStyle(text: string): void {
      if (styleDefinition.name.length < 200) styleDefinition.name += text;
    },
    endStyle(): void {
      const digit = /^\s*heading (\d)/i.exec(styleDefinition.name)?.[1];
      const level =
        styleDefinition.level >= 0 && styleDefinition.level < 9 ? styleDefinition.level + 1 : Number(digit ?? 0);
      if (level > 0 && styleDefinition.number > 0) headings.set(styleDefinition.number, level);
      else if (/^\s*title\s*;/i.test(styleDefinition.name) && styleDefinition.number > 0)
        headings.set(styleDefinition.number, 1);
      styleDefinition = { number: 0, level: -1, name: '' };
    },
    finish(): void {
      endParagraph();
      closeTable();
      for (const [index, note] of notes.entries()) flow.addParagraph(`Note ${index + 1}: ${oneLine(note)}`);
    },
  };

  function endParagraph(): void {
    const heading = outline >= 0 && outline < 9 ? outline + 1 : (headings.get(style) ?? 0);
    const isHeading = tableState === 'none' && heading > 0;
    if (!isHeading && marker.trim() === '') extractTypedMarker();
    flow.addText(line.replaceAll('\t', ' '));
    if (isHeading) flow.endParagraph({ heading });
    else flow.endParagraph({ container: line.trim() === '' ? null : currentItem() });
    [marker, line] = ['', ''];
  }

  function currentItem(): Container | null {
    if (marker.trim() === '') return items.endList();
    const digits = /^\s*(\d{1,6})[.)]/.exec(marker)?.[1];
    return items.add(listLevel, digits === undefined ? null : Number(digits));
  }

  /** Finds the marker if a program wrote it as text before a tab. The indent in twips then tells the list level. */
  function extractTypedMarker(): void {
    const match = /^\s*([•◦▪·–]|\d{1,4}[.)])\s*\t\s*/.exec(line);
    if (!match) return;
    marker = match[1] ?? '';
    line = line.slice(match[0].length);
    listLevel = Math.min(Math.max(0, Math.round(indent / 360) - 1), 8);
  }

  function openRow(isInTable: boolean): void {
    inTable ||= isInTable;
    if (tableState === 'inRow') return;
    if (tableState === 'none') {
      endParagraph();
      flow.openTable();
    }
    tableState = 'inRow';
    flow.openRow();
    flow.openCell();
  }

  function closeTable(): void {
    if (tableState === 'none') return;
    tableState = 'none';
    flow.closeTable();
  }
}
