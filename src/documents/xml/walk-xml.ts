import { SaxesParser } from 'saxes';
import { CarrelError } from '../../base/errors.ts';
import { declaredInMarkup } from '../text/charset-declared.ts';

/** Attribute values by name as written, with the prefix. */
export type XmlAttributes = Record<string, string>;

export interface XmlHandler {
  /** `name` has no prefix. Programs choose prefixes freely, and names in these formats are unique without them. */
  open?(name: string, attributes: XmlAttributes): void;
  close?(name: string): void;
  text?(text: string): void;
  /** Called between pieces of input. Returns true to end the walk. */
  isDone?(): boolean;
}

/** Max nesting of elements. No office program nests deeper. */
const depthMax = 512;

/**
 * Parses the XML part of an office document as a stream, without a tree. Only the five XML entities and numeric ones are known.
 * A document that defines and uses others is rejected, so entities cannot expand without limit.
 */
export function walkXml(chunks: Iterable<Uint8Array>, handler: XmlHandler): void {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  let depth = 0;
  parser.on('error', (error) => {
    const message = 'This document is damaged: a part of it is not valid XML. Get it again from its source.';
    throw new CarrelError('extraction_failed', message, { cause: error });
  });
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1;
    if (depth > depthMax) {
      const message = `Elements are nested more than ${depthMax} levels deep. Save this document again from an office program.`;
      throw new CarrelError('extraction_too_complex', message);
    }
    handler.open?.(localName(name), attributes);
  });
  parser.on('closetag', ({ name }) => {
    depth -= 1;
    handler.close?.(localName(name));
  });
  parser.on('text', (text) => handler.text?.(text));
  parser.on('cdata', (text) => handler.text?.(text));
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for (const chunk of chunks) {
    decoder ??= new TextDecoder(encodingOfStart(chunk));
    parser.write(decoder.decode(chunk, { stream: true }));
    if (handler.isDone?.()) return;
  }
  parser.close();
}

/** Creates a handler that skips these elements with everything in them: deleted text, field codes, duplicates. */
export function skipElements(skipped: ReadonlySet<string>, handler: XmlHandler): XmlHandler {
  let depth = 0;
  return {
    open(name, attributes) {
      if (depth > 0 || skipped.has(name)) depth += 1;
      else handler.open?.(name, attributes);
    },
    close(name) {
      if (depth > 0) depth -= 1;
      else handler.close?.(name);
    },
    text(text) {
      if (depth === 0) handler.text?.(text);
    },
    isDone: () => handler.isDone?.() ?? false,
  };
}

/** Returns the attribute with this name: the one without prefix if there is one, else one with any prefix. */
export function attributeOf(attributes: XmlAttributes, name: string): string | undefined {
  return attributes[name] ?? prefixedAttribute(attributes, name);
}

/** Returns the attribute of this name that has a prefix, such as `r:id` if there is also an `id`. */
export function prefixedAttribute(attributes: XmlAttributes, name: string): string | undefined {
  const suffix = `:${name}`;
  for (const key in attributes) if (key.endsWith(suffix)) return attributes[key];
  return undefined;
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(colon + 1);
}

function encodingOfStart(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return declaredInMarkup(bytes) ?? 'utf-8';
}
