import { attributeOf, type XmlHandler } from '../xml/walk-xml.ts';

/** List and title properties of styles. Styles come before the body: some in a separate part, some in its own. */
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
