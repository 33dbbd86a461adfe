import { styleText } from 'node:util';
import { findHome } from '../../base/home-folder.ts';
import { isObject } from '../../base/json.ts';
import type { CommandLine } from '../command-line.ts';
import { printableJson, printableLine } from '../terminal/printable.ts';
import { type Column, renderTable } from '../terminal/table.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface ShownColumn<R = Row> extends Column {
  cell(row: R): string;
}

/** Prints a table on a terminal; otherwise, or with --json, the tool's answer as JSON. */
export function show<R>(
  { flags }: CommandLine,
  answer: object,
  columns: readonly ShownColumn<R>[],
  rows: readonly R[],
  emptyText: string,
): void {
  if (flags['json'] === true || !process.stdout.isTTY) {
    printJson(answer);
  } else if (rows.length === 0) {
    process.stderr.write(`carrel: ${emptyText}\n`);
  } else {
    const style = (text: string): string => styleText('bold', text, { stream: process.stdout });
    const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
    process.stdout.write(renderTable(columns, cells, { totalWidth: process.stdout.columns || 80, style }));
  }
}

export function printJson(answer: object): void {
  const json = process.stdout.isTTY ? printableJson(answer) : JSON.stringify(answer, null, 2);
  process.stdout.write(`${json}\n`);
}

/** Prints a hint on stderr, unless stdout is redirected. */
export function printHint(text: string): void {
  if (process.stdout.isTTY) process.stderr.write(`carrel: ${printableLine(text)}\n`);
}

/** Explains an empty or degraded answer. */
export function printAnswerHints(answer: Row): void {
  for (const key of ['degraded', 'hint']) if (text(answer[key]) !== '') printHint(text(answer[key]));
  const weak = answer['weak_omitted'];
  if (typeof weak === 'number' && weak > 0) printHint(`${weak} low-relevance results hidden`);
}

export function rowsOf(value: unknown): Row[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

export function list(value: unknown): string {
  return Array.isArray(value) ? value.map(text).join(', ') : '';
}

/** Formats a time to the minute, in local time. */
export function date(value: unknown): string {
  const at = new Date(text(value));
  if (Number.isNaN(at.getTime())) return '';
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function number(value: unknown): string {
  return typeof value === 'number' ? value.toFixed(3) : '';
}

/** Abbreviates the home folder to ~. */
export function path(value: unknown): string {
  const fullPath = text(value);
  const home = `${findHome() ?? ''}/`;
  return home.length > 1 && fullPath.startsWith(home) ? `~/${fullPath.slice(home.length)}` : fullPath;
}
