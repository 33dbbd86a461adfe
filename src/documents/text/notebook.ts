import { CarrelError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { ExtractMode, Reading } from '../document.ts';
import { fenceFor } from '../html/markdown-escape.ts';

/** Max characters kept of a cell's output. A training run may print for hours. */
const outputCharsMax = 4000;

/** True if JSON is a Jupyter notebook: its schema requires both keys (nbformat 4), and they are rarely together elsewhere. */
export function looksLikeNotebook(json: string): boolean {
  return /"nbformat"\s*:\s*\d/.test(json) && /"(?:cells|worksheets)"\s*:\s*\[/.test(json);
}

/** Reads a Jupyter notebook: its text, code and printed output. Omits pictures and other rich output. */
export function readNotebook(json: string, mode: ExtractMode, charsMax: number): Reading {
  const notebook = parse(json);
  const metadata = fieldsOf(notebook['metadata']);
  const language =
    stringOf(fieldsOf(metadata['language_info'])['name']) ?? stringOf(fieldsOf(metadata['kernelspec'])['language']);
  const cells = Array.isArray(notebook['cells'])
    ? notebook['cells']
    : listOf(notebook['worksheets']).flatMap((sheet) => listOf(fieldsOf(sheet)['cells']));
  const parts: string[] = [];
  let units = 0;
  for (const cell of cells) {
    if (units > charsMax) break;
    const text = textOfCell(fieldsOf(cell), language ?? '', mode);
    if (text === '') continue;
    parts.push(text);
    units += text.length + 2;
  }
  const text = parts.join('\n\n');
  return {
    title: stringOf(metadata['title']) ?? /^#\s+(.+)$/m.exec(text.slice(0, 20_000))?.[1] ?? null,
    text,
    kind: 'notebook',
    ...(language === null ? {} : { codeLanguage: language.toLowerCase() }),
    truncated: units > charsMax,
  };
}

type Fields = Record<string, unknown>;

function parse(json: string): Fields {
  try {
    return fieldsOf(JSON.parse(json));
  } catch (error) {
    const message = 'This notebook is damaged: it is not valid JSON. Get it again from its source.';
    throw new CarrelError('extraction_failed', message, { cause: error });
  }
}

function textOfCell(cell: Fields, language: string, mode: ExtractMode): string {
  const source = linesOf(cell['source'] ?? cell['input']).trim();
  if (cell['cell_type'] !== 'code') return source;
  const outputs = listOf(cell['outputs'])
    .map(textOfOutput)
    .filter((text) => text !== '');
  const output = outputs.join('\n').slice(0, outputCharsMax);
  return [fenced(source, language, mode), fenced(output, '', mode)].filter((text) => text !== '').join('\n\n');
}

function textOfOutput(output: unknown): string {
  const fields = fieldsOf(output);
  if (fields['output_type'] === 'error')
    return `${stringOf(fields['ename']) ?? ''}: ${stringOf(fields['evalue']) ?? ''}`;
  const text = linesOf(fields['text'] ?? fieldsOf(fields['data'])['text/plain']);
  return text.slice(0, outputCharsMax).replace(terminalColours, '').trimEnd();
}

const terminalColours = /\x1b\[[\d;]*m/g;

function fenced(code: string, language: string, mode: ExtractMode): string {
  if (code.trim() === '' || mode === 'text') return code;
  const fence = fenceFor(code);
  return `${fence}${language}\n${code}\n${fence}`;
}

/** Reads a text, which is a string or a list of lines with their line breaks. */
function linesOf(value: unknown): string {
  if (typeof value === 'string') return value.replaceAll('\r\n', '\n');
  return listOf(value)
    .filter((line) => typeof line === 'string')
    .join('')
    .replaceAll('\r\n', '\n');
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function stringOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
