import { posix } from 'node:path';
import { readFields, walkMember } from '../archive/walk-member.ts';
import { openZip } from '../archive/zip.ts';
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

export type OoxmlPackage = ReturnType<typeof openOoxml>;

/** Opens a DOCX, PPTX or XLSX: parts in a zip archive that refer to one another (ECMA-376 part 2). */
export function openOoxml(bytes: Uint8Array) {
  const zip = openZip(bytes);
  const roots = relationsOf('');
  const main = roots.find(({ type }) => type === 'officeDocument')?.target;
  if (main === undefined || !find(main)) throw damagedZip('no main part');
  return {
    /** Name of the main part, which leads to all others. */
    main,
    relationsOf,
    walk,
    /** Returns the bytes of a part that is not XML, such as an embedded workbook. */
    bytesOf(part: string): Uint8Array | undefined {
      const member = find(part);
      return member && zip.bytes(member);
    },
    readProperties(): Pick<Reading, 'byline' | 'published' | 'language'> & { title: string | null } {
      const fields = readFields(zip, roots.find(({ type }) => type === 'core-properties')?.target);
      const value = (name: string) => fields.get(name) ?? null;
      return {
        title: value('title'),
        byline: value('creator'),
        published: value('created') ?? value('modified'),
        language: value('language'),
      };
    },
  };

  /** Finds a part. Names are case-insensitive (ECMA-376 part 2, 6.2.2.3), but nearly all files use the same case. */
  function find(part: string) {
    return zip.find(part) ?? zip.members.find(({ name }) => name.toLowerCase() === part.toLowerCase());
  }

  /** Parses a part. Returns false if it does not exist: most are optional. */
  function walk(part: string | undefined, handler: XmlHandler): boolean {
    return walkMember(zip, part === undefined ? undefined : find(part)?.name, handler);
  }

  function relationsOf(part: string): Relation[] {
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
}

/** Returns the attribute `val`, which has the value of most property elements. */
export function valOf(attributes: Record<string, string>): string {
  return attributeOf(attributes, 'val') ?? '';
}

/** Returns the author's description of a picture. Empty if it is only a file name or URL that a program put there. */
export function pictureText(attributes: Record<string, string>): string {
  const description = (attributes['descr'] ?? '').trim();
  return /\s/.test(description) && !/^(?:\w+:|\\)/.test(description) ? ` [${description}] ` : '';
}
