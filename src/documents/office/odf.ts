import { readFields, walkMember } from '../archive/walk-member.ts';
import { openZip, type Zip } from '../archive/zip.ts';
import { damagedZip } from '../archive/zip-directory.ts';
import { needsPassword, type Reading, type ReadOptions } from '../document.ts';
import { skipping, type XmlHandler } from '../xml/walk-xml.ts';
import { createFlow } from './flow.ts';
import { createOdfSheets } from './odf-sheets.ts';
import { createOdfStyles } from './odf-styles.ts';
import { createOdfText } from './odf-text.ts';

/** Reads an OpenDocument text, spreadsheet or presentation (ODF 1.3). They differ only in their body. */
export function readOdf(kind: 'odt' | 'ods' | 'odp', bytes: Uint8Array, options: ReadOptions): Reading {
  const zip = openZip(bytes);
  assertReadable(zip);
  const described = describe(zip);
  if (kind === 'ods') {
    const sheets = createOdfSheets(options);
    for (const remark of walkBody(zip, sheets.handler)) sheets.addParagraph(remark);
    return { ...described, ...sheets.finish() };
  }
  const flow = createFlow(options.mode, options.charsMax);
  const styles = createOdfStyles();
  walkMember(zip, 'styles.xml', styles.handler);
  const body = createOdfText(flow, styles, kind);
  const remarks = walkBody(zip, body.handler);
  body.finish();
  for (const remark of remarks) {
    flow.addText(remark);
    flow.endParagraph();
  }
  return {
    ...described,
    title: described.title ?? flow.topHeading,
    ...flow.finish(),
    ...(kind === 'odp' ? { pages: body.slides() } : {}),
  };
}

/** Elements to skip: deleted content, and elements that contain no text of the document. */
const skippedElements = new Set(['tracked-changes', 'binary-data', 'event-listeners', 'forms', 'ruby-text']);

const remarksMax = 5000;

/** Passes the body to `handler`, without comments. Returns the comments, which are inside the text that they refer to. */
function walkBody(zip: Zip, handler: XmlHandler): string[] {
  const remarks: string[] = [];
  let depth = 0;
  let inText = 0;
  let remark = '';
  const aside: XmlHandler = {
    open(name, attributes) {
      if (name === 'annotation') depth += 1;
      if (depth === 0) handler.open?.(name, attributes);
      else if (name === 'p') inText += 1;
    },
    close(name) {
      if (depth === 0) handler.close?.(name);
      else if (name === 'p') {
        inText -= 1;
        remark += ' ';
      } else if (name === 'annotation') {
        depth -= 1;
        if (remark.trim() !== '' && remarks.length < remarksMax) remarks.push(`Comment: ${remark.trim()}`);
        remark = '';
      }
    },
    text(text) {
      if (depth === 0) handler.text?.(text);
      else if (inText > 0 && remark.length < 20_000) remark += text;
    },
    isDone: () => handler.isDone?.() ?? false,
  };
  if (!walkMember(zip, 'content.xml', skipping(skippedElements, aside))) throw damagedZip('no content');
  return remarks;
}

/** Throws if the document is encrypted. The zip archive itself is not encrypted; its manifest says which parts are. */
function assertReadable(zip: Zip): void {
  let encrypted = false;
  walkMember(zip, 'META-INF/manifest.xml', {
    open(name) {
      encrypted ||= name === 'encryption-data';
    },
    isDone: () => encrypted,
  });
  if (encrypted) throw needsPassword();
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
