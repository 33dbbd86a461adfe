import type { Container } from '../html/blocks.ts';
import { type Flow, listItem } from '../office/flow.ts';

/** Turns RTF's marks for paragraphs, styles, lists and table cells into blocks. */
export interface RtfBody {
  addText(text: string): void;
  /** The bullet or number that a list's item shows. */
  addMarker(text: string): void;
  /** A control word of the body. */
  take(name: string, value: number | null): void;
  takeStyle(name: string, value: number | null): void;
  nameStyle(text: string): void;
  endStyle(): void;
  finish(): void;
}

export function createRtfBody(flow: Flow): RtfBody {
  const headings = new Map<number, number>();
  let definition = { number: 0, level: -1, name: '' };
  let style = 0;
  let outline = -1;
  let listLevel = 0;
  let marker = '';
  let isEmpty = true;
  let inTable = false;
  let table: 'none' | 'row' | 'between' = 'none';
  let items: (Container | undefined)[] = [];

  return {
    addText(text) {
      if (text === '') return;
      if (table === 'between' && !inTable) closeTable();
      const shown = isEmpty ? leadingMarker(text) : text;
      if (shown.trim() !== '') isEmpty = false;
      flow.addText(shown.replaceAll('\t', ' '));
    },
    addMarker(text) {
      marker += text;
    },
    take(name, value) {
      if (name === 'par' || name === 'sect' || name === 'page') endParagraph();
      else if (name === 'pard') {
        [style, outline, listLevel, inTable] = [0, -1, 0, false];
      } else if (name === 's') style = value ?? 0;
      else if (name === 'outlinelevel') outline = value ?? -1;
      else if (name === 'ilvl') listLevel = Math.min(Math.max(0, value ?? 0), 8);
      else if (name === 'intbl' || name === 'trowd') openRow(name === 'intbl');
      else if (name === 'cell') {
        openRow(true);
        flow.closeCell();
        flow.openCell();
        [marker, isEmpty] = ['', true];
      } else if (name === 'nestcell') flow.addText(' ');
      else if (name === 'row' && table === 'row') table = 'between';
    },
    takeStyle(name, value) {
      if (name === 's') definition.number = value ?? 0;
      else if (name === 'outlinelevel') definition.level = value ?? -1;
    },
    nameStyle(text) {
      if (definition.name.length < 200) definition.name += text;
    },
    endStyle() {
      const digit = /^\s*heading (\d)/i.exec(definition.name)?.[1];
      const level = definition.level >= 0 && definition.level < 9 ? definition.level + 1 : Number(digit ?? 0);
      if (level > 0 && definition.number > 0) headings.set(definition.number, level);
      else if (/^\s*title\s*;/i.test(definition.name) && definition.number > 0) headings.set(definition.number, 1);
      definition = { number: 0, level: -1, name: '' };
    },
    finish() {
      endParagraph();
      closeTable();
    },
  };

  function endParagraph(): void {
    const heading = outline >= 0 && outline < 9 ? outline + 1 : (headings.get(style) ?? 0);
    if (table === 'none' && heading > 0) flow.endParagraph({ heading });
    else flow.endParagraph({ inside: isEmpty ? null : item() });
    [marker, isEmpty] = ['', true];
  }

  function item(): Container | null {
    if (marker.trim() === '') {
      items = [];
      return null;
    }
    const parent = items.slice(0, listLevel).findLast((above) => above !== undefined) ?? null;
    const digits = /^\s*(\d{1,6})[.)]/.exec(marker)?.[1];
    const made = listItem(parent, digits === undefined ? null : Number(digits));
    items = [...items.slice(0, listLevel), made];
    return made;
  }

  /** Some programs write the bullet as text before a tab. */
  function leadingMarker(text: string): string {
    const bullet = /^\s*([•◦▪·])\s*/.exec(text);
    if (!bullet || marker !== '') return text;
    marker = bullet[1] ?? '';
    return text.slice(bullet[0].length);
  }

  function openRow(isInside: boolean): void {
    inTable ||= isInside;
    if (table === 'row') return;
    if (table === 'none') {
      endParagraph();
      flow.openTable();
    }
    table = 'row';
    flow.openRow();
    flow.openCell();
  }

  function closeTable(): void {
    if (table === 'none') return;
    table = 'none';
    flow.closeTable();
  }
}
