import { walkXml, type XmlHandler } from '../xml/walk-xml.ts';
import type { Zip } from './zip.ts';

/** Parses an XML member. Returns false if the archive has no member of this name: most parts of a document are optional. */
export function walkMember(zip: Zip, name: string | undefined, handler: XmlHandler): boolean {
  const member = name === undefined ? undefined : zip.find(name);
  if (!member) return false;
  walkXml(zip.stream(member), handler);
  return true;
}

/** Reads metadata by element name: the first non-empty value of each element. */
export function readFields(zip: Zip, name: string | undefined): Map<string, string> {
  const fields = new Map<string, string>();
  let field = '';
  walkMember(zip, name, {
    open(element) {
      field = element;
    },
    close() {
      field = '';
    },
    text(text) {
      if (field !== '' && !fields.has(field) && text.trim() !== '') fields.set(field, text.trim());
    },
  });
  return fields;
}
