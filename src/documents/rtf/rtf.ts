import { CarrelError } from '../../base/errors.ts';
import type { Reading, ReadOptions } from '../document.ts';
import { createFlow } from '../office/flow.ts';
import { cpuMs } from '../reader-limits.ts';
import { createRtfBody } from './rtf-body.ts';
import { codePageOf, decodeCodePage } from './rtf-charsets.ts';
import { type RtfToken, rtfTokens } from './rtf-tokens.ts';

/** The state of the current group. Copied at every opening brace. */
interface Group {
  /** Destination of its text: `body`, `none` (dropped), one of `destinations`, `title` or `author`. */
  to: string;
  /** Number of characters after a `\u` that repeat it for older readers. They are skipped. */
  fallbackChars: number;
  font: number;
  isHidden: boolean;
}

/** Max nesting of groups. Word nests a few dozen. */
const depthMax = 1000;

/** Max bytes decoded at once. A two-byte character at the boundary may be split. */
const pendingMax = 65_536;

/** Reads Rich Text Format: paragraphs, headings, lists and tables. Skips pictures, objects and hidden text. */
export function readRtf(bytes: Uint8Array, options: ReadOptions): Reading {
  const flow = createFlow(options.mode, options.charsMax);
  const body = createRtfBody(flow);
  const fields = new Map<string, string>();
  const fontCodePages = new Map<number, number>();
  const stack: Group[] = [];
  let group: Group = { to: 'body', fallbackChars: 1, font: 0, isHidden: false };
  let codePage = 1252;
  let charsToSkip = 0;
  let isStarred = false;
  let pending: number[] = [];
  let steps = 0;
  let hasObject = false;

  const addText = (text: string) => {
    if (group.isHidden || group.to === 'none') return;
    if (group.to === 'body') body.addText(text);
    else if (group.to === 'style') body.nameStyle(text);
    else if (group.to === 'marker') body.addMarker(text);
    else if (group.to === 'note') body.addNote(text);
    else if (group.to !== 'fonts') append(fields, group.to, text);
  };
  const flushBytes = () => {
    if (pending.length === 0) return;
    const text = decodeCodePage(pending, fontCodePages.get(group.font) ?? codePage);
    pending = [];
    addText(text);
  };

  for (const token of rtfTokens(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'))) {
    steps += 1;
    if (flow.isFull || (steps % 4096 === 0 && cpuMs() > options.stopAt)) break;
    if (token.type === 'byte') {
      if (charsToSkip > 0) charsToSkip -= 1;
      else if (group.to !== 'none' && group.to !== 'fonts') pending.push(token.byte);
      if (pending.length >= pendingMax) flushBytes();
      continue;
    }
    flushBytes();
    handleToken(token);
  }
  flushBytes();
  body.finish();
  const output = flow.finish();
  // A file with only an embedded object may have a few stray characters, which don't count as text.
  if (hasObject && !/\p{L}{2}/u.test(output.text)) output.text = '';
  return {
    title: fields.get('title')?.trim() || flow.topHeading,
    byline: fields.get('author')?.trim() ?? null,
    ...output,
    truncated: output.truncated === true || cpuMs() > options.stopAt,
  };

  function handleToken(token: Exclude<RtfToken, { type: 'byte' }>): void {
    if (token.type === 'open') {
      if (stack.length >= depthMax) {
        const message = `Groups are nested more than ${depthMax} levels deep. Save this document again from a word processor.`;
        throw new CarrelError('extraction_too_complex', message);
      }
      stack.push(group);
      group = { ...group };
      [charsToSkip, isStarred] = [0, false];
    } else if (token.type === 'close') {
      if (group.to === 'style') body.endStyle();
      group = stack.pop() ?? group;
      [charsToSkip, isStarred] = [0, false];
    } else if (token.type === 'text') {
      const skipped = Math.min(charsToSkip, token.text.length);
      charsToSkip -= skipped;
      addText(token.text.slice(skipped));
    } else if (charsToSkip > 0) charsToSkip -= 1;
    else if (token.type === 'symbol') handleSymbol(token.name);
    else handleWord(token.name, token.value);
  }

  function handleSymbol(name: string): void {
    if (name === '*') isStarred = true;
    else if (name === '~') addText(' ');
    else if (name === '_') addText('-');
    else if (name === '\r' || name === '\n') body.handleWord('par', null);
    else if ('\\{}'.includes(name)) addText(name);
  }

  function handleWord(name: string, value: number | null): void {
    const destination = destinations.get(name);
    hasObject ||= name === 'object' || name === 'objdata';
    if (destination !== undefined && (group.to !== 'none' || name === 'shptxt')) {
      group.to = destination;
      if (destination === 'note') body.startNote();
    } else if (group.to === 'info' && (name === 'title' || name === 'author')) group.to = name;
    // `\*` marks a destination that readers may skip if they do not know it.
    else if (isStarred && !knownStarred.has(name)) group.to = 'none';
    isStarred = false;
    if (name === 'u' && value !== null) {
      addText(String.fromCharCode(value & 0xffff));
      charsToSkip = group.fallbackChars;
    } else if (name === 'uc') group.fallbackChars = Math.min(Math.max(0, value ?? 1), 100);
    else if (name === 'ansicpg') codePage = value ?? codePage;
    else if (name === 'f') group.font = value ?? 0;
    else if (name === 'fcharset' && group.to === 'fonts') {
      const fontCodePage = codePageOf(value ?? 0);
      if (fontCodePage !== undefined) fontCodePages.set(group.font, fontCodePage);
    } else if (name === 'v' || name === 'deleted') group.isHidden = value !== 0;
    else if (name === 'plain') group.isHidden = false;
    else if (characters.has(name)) addText(characters.get(name) ?? '');
    else if (group.to === 'style') body.handleStyleWord(name, value);
    else if (group.to === 'body') body.handleWord(name, value);
    else if (group.to === 'note' && name === 'par') body.addNote(' ');
  }
}

function append(fields: Map<string, string>, name: string, text: string): void {
  const previous = fields.get(name) ?? '';
  if (previous.length < 1000) fields.set(name, previous + text);
}

/** Control words that start a group whose text is not body text, or has a special role. */
const destinations = new Map<string, string>([
  ...'colortbl pict object header headerl headerr headerf footer footerl footerr footerf nonshppict themedata datastore xmlnstbl listtable listoverridetable rsidtbl generator fldinst bkmkstart bkmkend pn pnseclvl pntxta pntxtb annotation atnid atnauthor mmathPr latentstyles sp shprslt revtbl filetbl'
    .split(' ')
    .map((name): [string, string] => [name, 'none']),
  ['info', 'info'],
  ['fonttbl', 'fonts'],
  ['stylesheet', 'style'],
  ['listtext', 'marker'],
  ['pntext', 'marker'],
  ['footnote', 'note'],
  ['result', 'body'],
  ['shptxt', 'body'],
]);
const knownStarred = new Set(['shpinst', 'shptxt', 'fldrslt', 'cs']);

const characters = new Map([
  ['tab', '\t'],
  ['line', '\n'],
  ['emdash', '—'],
  ['endash', '–'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
  ['bullet', '•'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['qmspace', ' '],
]);
