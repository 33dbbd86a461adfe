import { type Html, html, type Part } from '../html.ts';
import { renderMarkdown } from './markdown.ts';

export interface TextOptions {
  /** The passage to mark, as offsets in UTF-16 units. */
  passage?: readonly [start: number, end: number] | undefined;
  /** Number of the first line, for code. */
  firstLine?: number | undefined;
  mark?: ((text: string) => Part) | undefined;
}

/** Renders part of a document by type: code with line numbers, CSV as a table, everything else as Markdown. */
export function documentText(type: string, text: string, options: TextOptions = {}): Html {
  if (/^(?:code|json|jsonl|yaml|xml|toml|notebook)$/.test(type)) return codeLines(text, options);
  if (type === 'csv' || type === 'tsv') return csvTable(text, options);
  const reflows = ['markdown', 'note', 'pdf', ''].includes(type);
  return html`<div class="prose${!reflows && ' lines'}">${renderMarkdown(text, options)}</div>`;
}

function codeLines(text: string, { firstLine = 1, passage, mark = (run) => run }: TextOptions): Html {
  let at = 0;
  const lines = text.split('\n').map((line, index) => {
    const start = at;
    at += line.length + 1;
    const isPassage = passage && start < passage[1] && start + line.length >= passage[0];
    return html`<span class="line${isPassage && ' passage'}" data-line="${firstLine + index}">${mark(line)}
</span>`;
  });
  return html`<pre class="code"><code>${lines}</code></pre>`;
}

const rowsMax = 200;

function csvTable(text: string, { mark = (run) => run }: TextOptions): Html {
  const [head = [], ...rows] = csvRows(text);
  return html`<div class="table-scroll" tabindex="0"><table><thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.slice(0, rowsMax).map((row) => html`<tr>${row.map((cell) => html`<td>${mark(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
}

/** Splits CSV. The separator is the most frequent of comma, semicolon and tab in the first line. */
export function csvRows(text: string): string[][] {
  const [first = ''] = text.split('\n', 1);
  const separator = [',', ';', '\t'].toSorted((a, b) => first.split(b).length - first.split(a).length)[0] ?? ',';
  const rows: string[][] = [[]];
  let field = '';
  let isQuoted = false;
  const endField = (): void => {
    rows.at(-1)?.push(field);
    field = '';
  };
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at] ?? '';
    if (isQuoted && unit === '"' && text[at + 1] === '"') {
      field += '"';
      at += 1;
    } else if (unit === '"') isQuoted = !isQuoted;
    else if (isQuoted) field += unit;
    else if (unit === separator) endField();
    else if (unit === '\n') {
      endField();
      rows.push([]);
    } else if (unit !== '\r') field += unit;
  }
  endField();
  return rows.filter((row) => row.some((cell) => cell !== ''));
}
