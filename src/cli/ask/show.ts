import { styleText } from 'node:util';
import { findHome } from '../../base/home-folder.ts';
import { isObject } from '../../base/json.ts';
import type { CommandLine } from '../command-line.ts';
import { printableJson, printableLine } from '../terminal/printable.ts';
import { type Column, renderTable } from '../terminal/table.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface ShownColumn<Of = Row> extends Column {
  cell(row: Of): string;
}

/** A table on a terminal; elsewhere, and where it is asked for, the tool's own answer as JSON. */
export function show<Of>(
  { flags }: CommandLine,
  answer: object,
  columns: readonly ShownColumn<Of>[],
  rows: readonly Of[],
  nothing: string,
): void {
  if (flags['json'] === true || !process.stdout.isTTY) {
    printJson(answer);
  } else if (rows.length === 0) {
    process.stderr.write(`carrel: ${nothing}\n`);
  } else {
    const style = (text: string): string => styleText('bold', text, { stream: process.stdout });
    const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
    process.stdout.write(renderTable(columns, cells, { columns: process.stdout.columns || 80, style }));
  }
}

export function printJson(answer: object): void {
  const json = process.stdout.isTTY ? printableJson(answer) : JSON.stringify(answer, null, 2);
  process.stdout.write(`${json}\n`);
}

/** What a tool says beside its results, for whoever looks at a table. */
export function remark(text: string): void {
  if (process.stdout.isTTY) process.stderr.write(`carrel: ${printableLine(text)}\n`);
}

/** Why an answer is empty, or worth less than it could be. */
export function tellRemarks(answer: Row): void {
  for (const key of ['degraded', 'hint']) if (text(answer[key]) !== '') remark(text(answer[key]));
  const weak = answer['weak_omitted'];
  if (typeof weak === 'number' && weak > 0) remark(`${weak} weak matches are left out`);
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

/** To the minute, in the time of this machine. */
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

/** A path below the home folder, as people write it. */
export function path(value: unknown): string {
  const whole = text(value);
  const home = `${findHome() ?? ''}/`;
  return home.length > 1 && whole.startsWith(home) ? `~/${whole.slice(home.length)}` : whole;
}
