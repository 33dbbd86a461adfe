import { attributeOf, type XmlHandler } from '../xml/walk-xml.ts';

/** Tells which styles are titles and numbered lists. `handler` reads `styles.xml`, and the styles at the start of the content. */
export interface OdfStyles {
  readonly handler: XmlHandler;
  isTitle(style: string): boolean;
  isNumbered(list: string, level: number): boolean;
}

export function createOdfStyles(): OdfStyles {
  const parents = new Map<string, string>();
  const numbered = new Map<string, Set<number>>();
  let list = new Set<number>();
  return {
    handler: {
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
    },
    isTitle: (style) => style === 'Title' || parents.get(style) === 'Title',
    isNumbered: (name, level) => numbered.get(name)?.has(level) ?? false,
  };
}
