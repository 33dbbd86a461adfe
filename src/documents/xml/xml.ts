import type { Reading } from '../document.ts';

export type XmlEvent =
  | { type: 'open'; name: string; attributes: string; empty: boolean }
  | { type: 'close'; name: string }
  | { type: 'text'; text: string };

/**
 * Yields the tags and texts of an XML document, in one pass and without a tree. Skips DOCTYPE declarations and leaves their
 * entities as written, so they cannot expand. Never throws: text that is not valid markup is read as text.
 */
export function* readXml(xml: string): Generator<XmlEvent> {
  let at = 0;
  while (at < xml.length) {
    const open = xml.indexOf('<', at);
    if (open !== at) {
      const text = xml.slice(at, open === -1 ? undefined : open);
      if (text.trim() !== '') yield { type: 'text', text: decodeEntities(text) };
      if (open === -1) return;
    }
    if (xml.startsWith('<![CDATA[', open)) {
      const end = endOf(xml, ']]>', open);
      yield { type: 'text', text: xml.slice(open + 9, end - 3) };
      at = end;
    } else if (xml.startsWith('<!--', open)) {
      at = endOf(xml, '-->', open);
    } else if (xml.startsWith('<?', open)) {
      at = endOf(xml, '?>', open);
    } else if (xml.startsWith('<!', open)) {
      at = endOfDoctype(xml, open);
    } else {
      at = endOf(xml, '>', open);
      yield tagOf(xml.slice(open + 1, at - 1));
    }
  }
}

/** Renders XML of an unknown kind as an outline: one element per line with its attributes, children indented. */
export function outlineXml(xml: string, charsMax: number): Reading {
  const lines: string[] = [];
  let length = 0;
  let depth = 0;
  for (const event of readXml(xml)) {
    if (event.type === 'close') {
      depth = Math.max(0, depth - 1);
      continue;
    }
    const text = event.type === 'text' ? event.text.trim() : `${event.name}${decodeEntities(event.attributes)}`;
    const last = lines.length - 1;
    // Text goes on its element's line. A colon at the end marks an element that has no text yet.
    if (event.type === 'text' && lines[last]?.endsWith(':')) lines[last] += ` ${text}`;
    else lines.push('  '.repeat(Math.min(depth, 16)) + text + (event.type === 'open' && !event.empty ? ':' : ''));
    length += text.length + 2 * Math.min(depth, 16) + 2;
    if (event.type === 'open' && !event.empty) depth += 1;
    if (length > charsMax) return { title: null, text: lines.join('\n'), truncated: true };
  }
  return { title: null, text: lines.join('\n') };
}

function tagOf(content: string): XmlEvent {
  if (content.startsWith('/')) return { type: 'close', name: content.slice(1).trim() };
  const empty = content.endsWith('/');
  const body = (empty ? content.slice(0, -1) : content).trim();
  const space = body.search(/\s/);
  const name = space === -1 ? body : body.slice(0, space);
  return { type: 'open', name, attributes: space === -1 ? '' : ` ${body.slice(space).trim()}`, empty };
}

/** Returns the position after the next `delimiter`, or the end of the text if there is none. */
function endOf(text: string, delimiter: string, from: number): number {
  const index = text.indexOf(delimiter, from);
  return index === -1 ? text.length : index + delimiter.length;
}

function endOfDoctype(xml: string, from: number): number {
  const close = endOf(xml, '>', from);
  const subset = xml.slice(from, close).indexOf('[');
  return subset === -1 ? close : endOf(xml, '>', endOf(xml, ']', from + subset) - 1);
}

const namedEntities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Decodes the five XML entities, `nbsp`, and numeric ones. Leaves others as written. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,4}));/g, (entity, decimal, hex, name) => {
    if (name !== undefined) return namedEntities[name] ?? entity;
    const point = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
    const isCharacter = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return isCharacter ? String.fromCodePoint(point) : '\ufffd';
  });
}
