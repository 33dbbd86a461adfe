import { CarrelError } from '../../base/errors.ts';
import { readFields, walkMember } from '../archive/walk-member.ts';
import { openZip, type Zip } from '../archive/zip.ts';
import { damagedZip } from '../archive/zip-directory.ts';
import type { Reading, ReadOptions } from '../document.ts';
import { skipping, type XmlHandler } from '../xml/walk-xml.ts';
import { createFlow } from './flow.ts';
import { createOdfSheets } from './odf-sheets.ts';
import { createOdfStyles } from './odf-styles.ts';
import { createOdfText } from './odf-text.ts';

/** OpenDocument text, spreadsheet or presentation (ODF 1.3): one format with three bodies. */
export function readOdf(kind: 'odt' | 'ods' | 'odp', bytes: Uint8Array, options: ReadOptions): Reading {
  const zip = openZip(bytes);
  assertReadable(zip);
  const described = describe(zip);
  if (kind === 'ods') {
    const sheets = createOdfSheets(options);
    walkBody(zip, sheets.handler);
    return { ...described, ...sheets.finish() };
  }
  const flow = createFlow(options.mode, options.charsMax);
  const styles = createOdfStyles();
  walkMember(zip, 'styles.xml', styles.handler);
  const body = createOdfText(flow, styles, kind);
  walkBody(zip, body.handler);
  body.finish();
  return {
    ...described,
    title: described.title ?? flow.topHeading,
    ...flow.finish(),
    ...(kind === 'odp' ? { pages: body.slides() } : {}),
  };
}

/** What was deleted, remarks beside the text, and what is no text at all. */
const notShown = new Set(['tracked-changes', 'annotation', 'binary-data', 'event-listeners', 'forms', 'ruby-text']);

function walkBody(zip: Zip, handler: XmlHandler): void {
  if (!walkMember(zip, 'content.xml', skipping(notShown, handler))) throw damagedZip('no content');
}

/** An encrypted document is an ordinary archive whose manifest says how each part was encrypted. */
function assertReadable(zip: Zip): void {
  let encrypted = false;
  walkMember(zip, 'META-INF/manifest.xml', {
    open(name) {
      encrypted ||= name === 'encryption-data';
    },
    isDone: () => encrypted,
  });
  if (encrypted) {
    throw new CarrelError('encrypted_document', 'This document needs a password. Save it without one and try again.');
  }
}

function describe(zip: Zip): Pick<Reading, 'title' | 'byline' | 'published' | 'language'> {
  const found = readFields(zip, 'meta.xml');
  const value = (name: string) => found.get(name) ?? null;
  return {
    title: value('title'),
    byline: value('initial-creator') ?? value('creator'),
    published: value('creation-date') ?? value('date'),
    language: value('language'),
  };
}
