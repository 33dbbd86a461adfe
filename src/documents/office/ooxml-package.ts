import { posix } from 'node:path';
import { readFields, walkMember } from '../archive/walk-member.ts';
import { openZip, type Zip } from '../archive/zip.ts';
import { damagedZip } from '../archive/zip-directory.ts';
import type { Reading } from '../document.ts';
import { attributeOf, type XmlHandler } from '../xml/walk-xml.ts';

export interface Relation {
  id: string;
  /** Last segment of the type's URI, such as `slide` or `styles`. The same in transitional and strict documents. */
  type: string;
  /** Name of the target part. */
  target: string;
}

/** A DOCX, PPTX or XLSX: parts in a zip archive that refer to one another (ECMA-376 part 2). */
export interface OoxmlPackage {
  /** Name of the main part, which leads to all others. */
  readonly main: string;
  relationsOf(part: string): Relation[];
  /** Parses a part. Returns false if it does not exist: most are optional. */
  walk(part: string | undefined, handler: XmlHandler): boolean;
  /** Returns the bytes of a part that is not XML, such as an embedded workbook. */
  bytesOf(part: string): Uint8Array | undefined;
  describe(): Pick<Reading, 'title' | 'byline' | 'published' | 'language'>;
}

export function openOoxml(bytes: Uint8Array): OoxmlPackage {
  const zip = openZip(bytes);
  const walk = (part: string | undefined, handler: XmlHandler) => walkPart(zip, part, handler);
  const relationsOf = (part: string) => readRelations(walk, part);
  const roots = relationsOf('');
  const main = roots.find(({ type }) => type === 'officeDocument')?.target;
  if (main === undefined || !findPart(zip, main)) throw damagedZip('no main part');
  const properties = roots.find(({ type }) => type === 'core-properties')?.target;
  const bytesOf = (part: string) => {
    const member = findPart(zip, part);
    return member && zip.bytes(member);
  };
  return { main, relationsOf, walk, bytesOf, describe: () => readProperties(zip, properties) };
}

type Walk = OoxmlPackage['walk'];

function walkPart(zip: Zip, part: string | undefined, handler: XmlHandler): boolean {
  return walkMember(zip, part === undefined ? undefined : findPart(zip, part)?.name, handler);
}

/** Finds a part. Names are case-insensitive (ECMA-376 part 2, 6.2.2.3), but nearly all files use the same case. */
function findPart(zip: Zip, part: string) {
  return zip.find(part) ?? zip.members.find(({ name }) => name.toLowerCase() === part.toLowerCase());
}

function readRelations(walk: Walk, part: string): Relation[] {
  const folder = posix.dirname(part);
  const relations: Relation[] = [];
  walk(posix.join(folder, '_rels', `${posix.basename(part)}.rels`), {
    open(name, attributes) {
      const { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode } = attributes;
      if (name !== 'Relationship' || mode === 'External') return;
      const resolved = target.startsWith('/') ? target.slice(1) : posix.join(folder, target);
      relations.push({ id, type: type.slice(type.lastIndexOf('/') + 1), target: resolved });
    },
  });
  return relations;
}

function readProperties(zip: Zip, part: string | undefined): ReturnType<OoxmlPackage['describe']> {
  const found = readFields(zip, part);
  const value = (name: string) => found.get(name) ?? null;
  return {
    title: value('title'),
    byline: value('creator'),
    published: value('created') ?? value('modified'),
    language: value('language'),
  };
}

/** Returns the attribute `val`, in which most property elements have their value. */
export function valOf(attributes: Record<string, string>): string {
  return attributeOf(attributes, 'val') ?? '';
}

/** Returns the author's description of a picture. Empty if it is only a file name or URL that a program put there. */
export function pictureText(attributes: Record<string, string>): string {
  const description = (attributes['descr'] ?? '').trim();
  return /\s/.test(description) && !/^(?:\w+:|\\)/.test(description) ? ` [${description}] ` : '';
}
