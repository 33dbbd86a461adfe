import { type Html, html, type Part } from '../html.ts';

export interface MarkdownOptions {
  /** Offsets in UTF-16 units. The blocks between them get the class `passage`. */
  passage?: readonly [start: number, end: number] | undefined;
  /** Renders a run of plain text, for example with words marked. */
  mark?: ((text: string) => Part) | undefined;
}

/**
 * Renders Markdown: headings, lists, quotes, tables, code, emphasis, links. HTML is shown as text, and images as their
 * description. Only http, https and mailto links become links. Takes linear time, because every pattern is bounded.
 */
export function renderMarkdown(text: string, options: MarkdownOptions = {}): Html {
  return html`${blocksOf(linesOf(text), options)}`;
}

interface Line {
  text: string;
  start: number;
}

function linesOf(text: string): Line[] {
  let start = 0;
  return text.split('\n').map((line) => {
    const at = start;
    start += line.length + 1;
    return { text: line.replace(/\r$/, ''), start: at };
  });
}

const patterns = {
  fence: /^ {0,3}(`{3,20}|~{3,20})[ \t]*([\w+#.-]{0,40})/,
  heading: /^ {0,3}(#{1,6})[ \t]+(.*)$/,
  rule: /^ {0,3}(?:(?:\*[ \t]*){3,80}|(?:-[ \t]*){3,80}|(?:_[ \t]*){3,80})$/,
  quote: /^ {0,3}> ?/,
  item: /^([ \t]{0,12})(?:[-*+]|\d{1,9}[.)])[ \t]+/,
  tableRow: /^ {0,3}\|.*\|[ \t]*$/,
  tableRule: /^ {0,3}\|?(?:[ \t]*:?-{1,80}:?[ \t]*\|){0,60}[ \t]*:?-{1,80}:?[ \t]*\|?[ \t]*$/,
} as const;

/** Max nesting of quotes and lists. */
const depthMax = 6;

function blocksOf(lines: readonly Line[], options: MarkdownOptions, depth = 0): Html[] {
  const blocks: Html[] = [];
  let at = 0;
  const take = (belongs: (line: string) => boolean): Line[] => {
    const from = at;
    at += 1;
    while (at < lines.length && belongs(lines[at]?.text ?? '')) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const { text: line = '' } = lines[at] ?? {};
    const fence = patterns.fence.exec(line);
    const heading = patterns.heading.exec(line);
    if (line.trim() === '') at += 1;
    else if (fence) blocks.push(codeBlock(take(untilFence(fence[1] ?? '```')), fence[1] ?? '', options));
    else if (heading)
      blocks.push(
        headingOf(
          take(() => false),
          heading,
          options,
        ),
      );
    else if (patterns.rule.test(line)) {
      at += 1;
      blocks.push(html`<hr>`);
    } else if (patterns.tableRow.test(line) && isTableLine(lines[at + 1]?.text ?? '')) {
      blocks.push(
        tableOf(
          take((next) => patterns.tableRow.test(next)),
          options,
        ),
      );
    } else if (patterns.quote.test(line) && depth < depthMax) {
      const inner = take((next) => patterns.quote.test(next)).map((each) => without(patterns.quote, each));
      blocks.push(html`<blockquote>${blocksOf(inner, options, depth + 1)}</blockquote>`);
    } else if (patterns.item.test(line) && depth < depthMax)
      blocks.push(listOf(take(untilListEnds(line)), options, depth));
    else
      blocks.push(
        paragraph(
          take((next) => next.trim() !== '' && !startsBlock(next)),
          options,
        ),
      );
  }
  return blocks;
}

/** True for a line that can follow the head of a table: a rule or, in tables from spreadsheets, a row. */
function isTableLine(line: string): boolean {
  return patterns.tableRule.test(line) || patterns.tableRow.test(line);
}

function startsBlock(line: string): boolean {
  const { fence, heading, quote, item, tableRow } = patterns;
  return [fence, heading, quote, item, tableRow].some((pattern) => pattern.test(line));
}

function without(pattern: RegExp, { text, start }: Line): Line {
  const length = pattern.exec(text)?.[0].length ?? 0;
  return { text: text.slice(length), start: start + length };
}

/** Returns a test that accepts lines up to and including the closing fence. */
function untilFence(fence: string): (line: string) => boolean {
  let isOpen = true;
  return (line) => {
    const wasOpen = isOpen;
    if (line.trimStart().startsWith(fence)) isOpen = false;
    return wasOpen;
  };
}

/** Returns a test for lines of a list: items of the same kind, indented lines, and single blank lines between them. */
function untilListEnds(first: string): (line: string) => boolean {
  let wasEmpty = false;
  const belongs = (line: string): boolean => {
    if (line.trim() === '') return !wasEmpty;
    if (patterns.item.test(line)) return indentOf(line) > indentOf(first) + 1 || isNumbered(line) === isNumbered(first);
    return /^[ \t]{2}/.test(line) || !(wasEmpty || startsBlock(line));
  };
  return (line) => {
    const isInList = belongs(line);
    wasEmpty = line.trim() === '';
    return isInList;
  };
}

function isNumbered(line: string): boolean {
  return /^[ \t]*\d/.test(line);
}

function listOf(lines: readonly Line[], options: MarkdownOptions, depth: number): Html {
  const indent = indentOf(lines[0]?.text ?? '');
  const items: Line[][] = [];
  for (const line of lines) {
    if (patterns.item.test(line.text) && indentOf(line.text) <= indent + 1) items.push([without(patterns.item, line)]);
    else items.at(-1)?.push(without(/^[ \t]{0,4}/, line));
  }
  const listItems = items.map((item) => {
    const [first, ...following] = item;
    const isTight =
      first !== undefined && following.every(({ text }) => text.trim() === '' || patterns.item.test(text));
    const body =
      isTight && first
        ? [...inlineOf([first], options), ...blocksOf(following, options, depth + 1)]
        : blocksOf(item, options, depth + 1);
    return html`<li${passageClass(item, options)}>${body}</li>`;
  });
  const [, first] = /^[ \t]*(\d{1,9})/.exec(lines[0]?.text ?? '') ?? [];
  return first === undefined
    ? html`<ul>${listItems}</ul>`
    : html`<ol${Number(first) !== 1 && html` start="${Number(first)}"`}>${listItems}</ol>`;
}

function indentOf(line: string): number {
  return /^[ \t]*/.exec(line)?.[0].length ?? 0;
}

function headingOf(
  lines: readonly Line[],
  [, marks = '#', text = '']: RegExpExecArray,
  options: MarkdownOptions,
): Html {
  const [line = { text: '', start: 0 }] = lines;
  const content = inlineOf([{ ...line, text: text.replace(/[ \t]{1,20}#{1,20}[ \t]*$/, '') }], options);
  // Headings start at h2, because the page's title is the only h1.
  const level = marks.length;
  if (level <= 1) return html`<h2${passageClass(lines, options)}>${content}</h2>`;
  if (level === 2) return html`<h3${passageClass(lines, options)}>${content}</h3>`;
  return html`<h4${passageClass(lines, options)}>${content}</h4>`;
}

function codeBlock(lines: readonly Line[], fence: string, options: MarkdownOptions): Html {
  const isClosed = lines.length > 1 && lines.at(-1)?.text.trimStart().startsWith(fence);
  const code = lines.slice(1, isClosed ? -1 : undefined);
  return html`<pre tabindex="0"${passageClass(code, options)}><code>${shownText(code.map(({ text }) => text).join('\n'), options)}</code></pre>`;
}

function paragraph(lines: readonly Line[], options: MarkdownOptions): Html {
  const [before, inside, after] = splitAtPassage(lines, options);
  if (inside === undefined) return html`<p${passageClass(lines, options)}>${inlineOf(lines, options)}</p>`;
  const run = (text = ''): Part[] => inlineOf([{ text, start: 0 }], options);
  return html`<p>${run(before)}<span class="passage">${run(inside)}</span>${run(after)}</p>`;
}

/** Splits a long paragraph into the text before the passage, the passage and the text after it. */
function splitAtPassage(lines: readonly Line[], { passage }: MarkdownOptions): string[] {
  const from = lines[0]?.start ?? 0;
  const text = lines.map((line) => line.text).join('\n');
  const isContiguous = lines.every((line, index) => index === 0 || line.start === endOf(lines[index - 1]));
  if (!passage || !isContiguous) return [];
  const [start, end] = [Math.max(0, passage[0] - from), Math.min(text.length, passage[1] - from)];
  return end <= start || end - start > text.length / 2
    ? []
    : [text.slice(0, start), text.slice(start, end), text.slice(end)];
}

function endOf(line: Line | undefined): number {
  return line === undefined ? 0 : line.start + line.text.length + 1;
}

function tableOf(lines: readonly Line[], options: MarkdownOptions): Html {
  const [head, second, ...remaining] = lines;
  const body = second && !patterns.tableRule.test(second.text) ? [second, ...remaining] : remaining;
  const row = (line: Line | undefined, cell: (text: Part) => Html): Html[] =>
    cellsOf(line?.text ?? '').map((text) => cell(inlineOf([{ text, start: 0 }], options)));
  return html`<div class="table-scroll" tabindex="0"><table><thead><tr>${row(head, (text) => html`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${body.map((line) => html`<tr${passageClass([line], options)}>${row(line, (text) => html`<td>${text}</td>`)}</tr>`)}</tbody></table></div>`;
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function passageClass(lines: readonly Line[], { passage }: MarkdownOptions): Html | false {
  const [first, last] = [lines[0], lines.at(-1)];
  if (!passage || !first || !last) return false;
  return first.start < passage[1] && last.start + last.text.length > passage[0] && html` class="passage"`;
}

/** Matches inline markup. All repetitions are bounded, so that even a text of only opening brackets takes linear time. */
const inlinePattern =
  /(?<fence>`{1,3})(?<code>[^`]{1,400})\k<fence>|\\(?<escaped>[!-/:-@[-`{-~])|\*\*(?<bold>[^*\s](?:[^*]{0,300}[^*\s])?)\*\*|(?<![\w*])[*_](?<italic>[^*_\s](?:[^*_]{0,300}[^*_\s])?)[*_](?![\w*])|~~(?<struck>[^~]{1,300})~~|!\[(?<alt>[^\]]{0,300})\]\([^)]{0,1000}\)|\[(?<label>[^\]]{1,300})\]\((?<target>(?:[^()\s]|\([^()\s]{0,200}\)){1,1000})[^)]{0,300}\)|<(?<auto>https?:\/\/[^>\s]{1,1000})>|(?<bare>https?:\/\/[^\s<>()"'`]{1,1000}[^\s<>()"'`.,;:!?])/g;

function inlineOf(lines: readonly Line[], options: MarkdownOptions): Part[] {
  const parts: Part[] = [];
  const text = lines.map((line) => line.text.replace(/ {2,8}$/, '')).join('\n');
  let done = 0;
  for (const match of text.matchAll(inlinePattern)) {
    parts.push(shownText(text.slice(done, match.index), options), inline(match.groups ?? {}, options));
    done = match.index + match[0].length;
  }
  parts.push(shownText(text.slice(done), options));
  return parts;
}

function inline(found: Record<string, string | undefined>, options: MarkdownOptions): Part {
  const { code, escaped, bold, italic, struck, alt, label, target, auto, bare } = found;
  if (code !== undefined) return html`<code>${shownText(code, options)}</code>`;
  if (escaped !== undefined) return escaped;
  if (bold !== undefined) return html`<strong>${plainInline(bold, options)}</strong>`;
  if (italic !== undefined) return html`<em>${plainInline(italic, options)}</em>`;
  if (struck !== undefined) return html`<del>${plainInline(struck, options)}</del>`;
  if (alt !== undefined) return html`<span class="picture">${alt === '' ? 'Image' : alt}</span>`;
  const address = target ?? auto ?? bare ?? '';
  const shown = label === undefined ? shownText(address, options) : plainInline(label, options);
  return linkOf(address, shown);
}

/** Renders text inside emphasis or a link. It may contain code; marks for bold text are removed. */
function plainInline(text: string, options: MarkdownOptions): Part[] {
  return text
    .split(/`([^`]{1,300})`/)
    .map((part, index) =>
      index % 2 === 1
        ? html`<code>${shownText(part, options)}</code>`
        : shownText(part.replace(/\*\*|__/g, ''), options),
    );
}

function linkOf(address: string, text: Part): Part {
  if (!/^(?:https?:\/\/|mailto:)/i.test(address)) return text;
  return html`<a href="${address}" rel="noopener noreferrer nofollow" target="_blank">${text}</a>`;
}

function shownText(text: string, { mark }: MarkdownOptions): Part {
  return mark && text.trim() !== '' ? mark(text) : text;
}

/** Converts Markdown to plain words on one line, for snippets. */
export function plainText(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/!?\[([^\]]{0,300})\]\([^)\s]{0,1000}[^)]{0,300}\)/g, '$1')
    .replace(/(^|\s)\|?(?:[ \t]{0,8}:?-{3,80}:?[ \t]{0,8}\|){1,60}(?:[ \t]{0,8}:?-{3,80}:?[ \t]{0,8}\|?)?/g, '$1')
    .replace(/[`~]{3,20}\w{0,20}/g, ' ')
    .replace(/(^|\s)(?:#{1,6}|>|[*+-])(?=\s)/g, '$1')
    .replace(/\*\*|__|~~|`/g, '')
    .replace(/(^|[\s(])[*_]([^*_\s][^*_]{0,300})[*_](?=[\s.,;:!?)]|$)/g, '$1$2')
    .replace(/\s+/g, ' ')
    .replace(/\s*\|\s*(?=\|)/g, ' ')
    .replace(/^\s*\|\s*|\s*\|\s*$/g, '')
    .replace(/\s*\|\s*/g, ' · ')
    .replace(/\s+/g, ' ')
    .trim();
}
