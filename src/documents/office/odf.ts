import { readFields, walkMember } from '../archive/walk-member.ts';
import { openZip, type Zip } from '../archive/zip.ts';
import { damagedZip } from '../archive/zip-directory.ts';
import { needsPassword, type Reading, type ReadOptions } from '../document.ts';
import { skipElements, type XmlHandler } from '../xml/walk-xml.ts';
import { createFlow } from './flow.ts';
import { createOdfSheets } from './odf-sheets.ts';
import { createOdfStyles, createOdfText } from './odf-text.ts';

/** Reads an OpenDocument text, spreadsheet or presentation (ODF 1.3). They differ only in their body. */
export function readOdf(kind: 'odt' | 'ods' | 'odp', bytes: Uint8Array, options: ReadOptions): Reading {
  const zip = openZip(bytes);
  assertReadable(zip);
  const properties = readProperties(zip);
  if (kind === 'ods') {
    const sheets = createOdfSheets(options);
    for (const comment of walkBody(zip, sheets.handler)) sheets.addParagraph(comment);
    return { ...properties, ...sheets.finish() };
  }
  const flow = createFlow(options.mode, options.charsMax);
  const styles = createOdfStyles();
  walkMember(zip, 'styles.xml', styles.handler);
  const body = createOdfText(flow, styles, kind);
  const comments = walkBody(zip, body.handler);
  body.finish();
  for (const comment of comments) flow.addParagraph(comment);
  return {
    ...properties,
    title: properties.title ?? flow.topHeading,
    ...flow.finish(),
    ...(kind === 'odp' ? { pages: body.slides() } : {}),
  };
}

/** Elements to skip: deleted content, and elements that contain no text of the document. */
const skippedElements = new Set(['tracked-changes', 'binary-data', 'event-listeners', 'forms', 'ruby-text']);

const commentsMax = 5000;

/** Passes the body to `handler`, without comments. Returns the comments, which are inside the text that they refer to. */
function walkBody(zip: Zip, handler: XmlHandler): string[] {
  const comments: string[] = [];
  let depth = 0;
  let paragraphDepth = 0;
  let comment = '';
  const bodyHandler: XmlHandler = {
    open(name, attributes) {
      if (name === 'annotation') depth += 1;
      if (depth === 0) handler.open?.(name, attributes);
      else if (name === 'p') paragraphDepth += 1;
    },
    close(name) {
      if (depth === 0) handler.close?.(name);
      else if (name === 'p') {
        paragraphDepth -= 1;
        comment += ' ';
      } else if (name === 'annotation') {
        depth -= 1;
        if (comment.trim() !== '' && comments.length < commentsMax) comments.push(`Comment: ${comment.trim()}`);
        comment = '';
      }
    },
    text(text) {
      if (depth === 0) handler.text?.(text);
      else if (paragraphDepth > 0 && comment.length < 20_000) comment += text;
    },
    isDone: () => handler.isDone?.() ?? false,
  };
  if (!walkMember(zip, 'content.xml', skipElements(skippedElements, bodyHandler))) throw damagedZip('no content');
  return comments;
}

/** Throws if the document is encrypted. The zip archive itself is not encrypted; its manifest says which parts are. */
function assertReadable(zip: Zip): void {
  let isEncrypted = false;
  walkMember(zip, 'META-INF/manifest.xml', {
    open(name) {
      isEncrypted ||= name === 'encryption-data';
    },
    isDone: () => isEncrypted,
  });
  if (isEncrypted) throw needsPassword();
}

function readProperties(zip: Zip): Pick<Reading, 'title' | 'byline' | 'published' | 'language'> {
  const fields = readFields(zip, 'meta.xml');
  const value = (name: string) => fields.get(name) ?? null;
  return {
    title: value('title'),
    byline: value('initial-creator') ?? value('creator'),
    published: value('creation-date') ?? value('date'),
    language: value('language'),
  };
}
