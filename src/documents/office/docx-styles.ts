import { attributeOf } from '../xml/walk-xml.ts';
import { type OoxmlPackage, valOf } from './ooxml-package.ts';

export type DocxStyles = ReturnType<typeof readDocxStyles>;

interface Style {
  name: string;
  basedOn: string;
  outline: number | null;
  list: { id: string; level: number } | null;
}

/** Max length of a chain of styles that are based on one another. A longer chain is a cycle. */
const basedOnMax = 20;

export function readDocxStyles(
  document: OoxmlPackage,
  stylesPart: string | undefined,
  numberingPart: string | undefined,
) {
  const styles = readStyles(document, stylesPart);
  const lists = readNumbering(document, numberingPart);
  const inherit = <Value>(styleId: string, pick: (style: Style) => Value | null): Value | null => {
    let style = styles.get(styleId);
    for (let step = 0; style && step < basedOnMax; step += 1) {
      const value = pick(style);
      if (value !== null) return value;
      style = styles.get(style.basedOn);
    }
    return null;
  };
  const isTitle = (styleId: string) => inherit(styleId, ({ name }) => (name === 'title' ? true : null)) ?? false;
  return {
    /** Returns 1 to 9 for a heading, 0 for other paragraphs. */
    headingLevel(styleId: string, outline: number | null): number {
      const level = outline ?? inherit(styleId, (style) => style.outline ?? levelOfName(style.name));
      if (level !== null && level >= 0 && level <= 8) return level + 1;
      return isTitle(styleId) ? 1 : 0;
    },
    isTitle,
    /** Returns the list to which every paragraph of the style belongs. */
    listOf: (styleId: string) => inherit(styleId, ({ list }) => list),
    isNumbered: (listId: string, level: number) => lists.get(listId)?.get(level)?.isNumbered ?? false,
    /** Returns the number of the first item. */
    startOf: (listId: string, level: number) => lists.get(listId)?.get(level)?.start ?? 1,
  };
}

/** Returns the heading level, from 0, by the style's name. Files have the English name in every language of Word. */
function levelOfName(name: string): number | null {
  const digit = /^heading (\d)$/.exec(name)?.[1];
  return digit === undefined ? null : Number(digit) - 1;
}

function readStyles(document: OoxmlPackage, part: string | undefined): Map<string, Style> {
  const styles = new Map<string, Style>();
  let style: Style | undefined;
  document.walk(part, {
    open(name, attributes) {
      if (name === 'style') {
        style = { name: '', basedOn: '', outline: null, list: null };
        styles.set(attributeOf(attributes, 'styleId') ?? '', style);
      } else if (!style) return;
      else if (name === 'name') style.name = valOf(attributes).toLowerCase();
      else if (name === 'basedOn') style.basedOn = valOf(attributes);
      else if (name === 'outlineLvl') style.outline = Number(valOf(attributes));
      else if (name === 'numPr') style.list = { id: '', level: 0 };
      else if (name === 'ilvl' && style.list) style.list.level = Number(valOf(attributes)) || 0;
      else if (name === 'numId' && style.list) style.list.id = valOf(attributes);
    },
    close(name) {
      if (name === 'style') style = undefined;
    },
  });
  return styles;
}

interface Level {
  /** False for bullets. */
  isNumbered: boolean;
  start: number;
}

/** Reads the levels of each list. A list refers to a definition, and may override its first number. */
function readNumbering(document: OoxmlPackage, part: string | undefined): Map<string, Map<number, Level>> {
  const definitions = new Map<string, Map<number, Level>>();
  const lists = new Map<string, Map<number, Level>>();
  let levels = new Map<number, Level>();
  let level: Level = { isNumbered: false, start: 1 };
  let listId = '';
  const startLevel = (number: number) => {
    level = levels.get(number) ?? { isNumbered: false, start: 1 };
    levels.set(number, level);
  };
  document.walk(part, {
    open(name, attributes) {
      if (name === 'abstractNum') {
        levels = new Map();
        definitions.set(attributeOf(attributes, 'abstractNumId') ?? '', levels);
      } else if (name === 'lvl' || name === 'lvlOverride') startLevel(Number(attributeOf(attributes, 'ilvl')) || 0);
      else if (name === 'numFmt') level.isNumbered = !['bullet', 'none', ''].includes(valOf(attributes));
      else if (name === 'start' || name === 'startOverride') level.start = firstNumber(valOf(attributes));
      else if (name === 'num') listId = attributeOf(attributes, 'numId') ?? '';
      else if (name === 'abstractNumId') {
        const definition = definitions.get(valOf(attributes)) ?? new Map<number, Level>();
        levels = new Map([...definition].map(([number, original]) => [number, { ...original }]));
        lists.set(listId, levels);
      }
    },
  });
  return lists;
}

function firstNumber(value: string): number {
  const number = Number(value);
  return Number.isInteger(number) && number >= 0 && number <= 1_000_000 ? number : 1;
}
