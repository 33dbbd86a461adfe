import * as z from 'zod';
import { itemBytesMax } from '../../../answers/answer-limit.ts';
import { CarrelError } from '../../../base/errors.ts';
import { countCharacters } from '../../../base/text.ts';
import { fittingUnits } from '../../../base/wire-bytes.ts';
import { originField, originOfMetadata } from '../../../tools/origin.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { asOfFilter, asOfInput } from '../search/search-input.ts';
import type { Section } from '../search/text-thread.ts';
import { getEntry } from '../show/entry-shapes.ts';

export function createNavigateContextTool({ entries, texts }: Pick<ContextParts, 'entries' | 'texts'>): Tool {
  return defineTool({
    name: 'navigate_context',
    title: 'Navigate Context',
    description: 'Outlines a long memory entry by its headings. read_context_range reads a section by node_id.',
    effect: 'read',
    input: z.object({
      context_id: z.int().min(1),
      max_depth: z.int().min(1).max(6).default(6),
      ...asOfInput,
    }),
    output: looseOutput(
      'context_id, total_chars, total_lines, node_count, root: {node_id, title, char_start, char_end, children}, truncated?, hint?',
    ),
    async run({ context_id: id, max_depth: depth, ...asOfArguments }, call) {
      const { text } = await getEntry(entries, id, call.signal, asOfFilter(asOfArguments).asOf);
      const outline = await texts.outline(text, { depth, bytesMax: itemBytesMax(call) }, call.signal);
      return {
        context_id: id,
        total_chars: outline.root.char_end,
        total_lines: text.split('\n').length,
        ...outline,
      };
    },
  });
}

const offset = z.int().min(0).optional();

export function createReadContextRangeTool({ entries, texts }: Pick<ContextParts, 'entries' | 'texts'>): Tool {
  return defineTool({
    name: 'read_context_range',
    title: 'Read Context Range',
    description:
      'Reads part of a long memory entry. Give one of: start_char and end_char, start_line and end_line (from 1, inclusive), or a node_id from navigate_context.',
    effect: 'read',
    input: z.object({
      context_id: z.int().min(1),
      start_char: offset,
      end_char: offset,
      start_line: z.int().min(1).optional(),
      end_line: z.int().min(1).optional(),
      node_id: z.string().optional(),
      ...asOfInput,
    }),
    output: z.looseObject({
      context_id: z.int(),
      start_char: z.int(),
      end_char: z.int(),
      total_chars: z.int(),
      text: z.string(),
      has_more: z.boolean(),
      origin: z.string().optional(),
    }),
    async run(input, call) {
      const { signal } = call;
      const { text, metadata } = await getEntry(entries, input.context_id, signal, asOfFilter(input).asOf);
      const { node_id: nodeId } = input;
      const section = nodeId === undefined ? undefined : await texts.section(text, nodeId, signal);
      const total = countCharacters(text);
      const { start, end } = rangeOf(input, text, total, section);
      const from = unitOffset(text, start);
      const requested = text.slice(from, unitOffset(text, end - start, from));
      const shown = requested.slice(0, fittingUnits(requested, 2, itemBytesMax(call)));
      const last = shown.length < requested.length ? start + countCharacters(shown) : end;
      return {
        context_id: input.context_id,
        start_char: start,
        end_char: last,
        total_chars: total,
        text: shown,
        has_more: last < total,
        ...originField(originOfMetadata(metadata)),
        ...(last < end
          ? { truncated: true, hint: `The answer is full: continue with start_char=${last}, end_char=${end}.` }
          : {}),
      };
    },
  });
}

/** Returns the UTF-16 offset that is this many characters after `from`. */
function unitOffset(text: string, characters: number, from = 0): number {
  let at = from;
  for (let count = 0; count < characters && at < text.length; count += 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}

interface RangeArguments {
  start_char?: number | undefined;
  end_char?: number | undefined;
  start_line?: number | undefined;
  end_line?: number | undefined;
  node_id?: string | undefined;
}

/** Returns the requested range in characters, clamped to the text. */
function rangeOf(
  range: RangeArguments,
  text: string,
  total: number,
  section: Section | undefined,
): { start: number; end: number } {
  const byChars = range.start_char !== undefined || range.end_char !== undefined;
  const byLines = range.start_line !== undefined || range.end_line !== undefined;
  const byNode = range.node_id !== undefined;
  if ([byChars, byLines, byNode].filter(Boolean).length !== 1) {
    throw invalid('Give one of start_char/end_char, start_line/end_line, or node_id');
  }
  checkOrder('char', range.start_char, range.end_char);
  checkOrder('line', range.start_line, range.end_line);
  if (byChars) {
    const start = Math.min(range.start_char ?? 0, total);
    return { start, end: Math.max(start, Math.min(range.end_char ?? total, total)) };
  }
  if (byNode) {
    if (section === undefined)
      throw invalid('This entry has no section with this node_id; navigate_context lists them');
    return { start: section.char_start, end: section.char_end };
  }
  const lineLengths = text.split('\n').map((line) => countCharacters(line) + 1);
  const first = range.start_line ?? 1;
  if (first > lineLengths.length)
    throw invalid(`start_line must be at most ${lineLengths.length}, the last line of this entry`);
  const last = Math.min(range.end_line ?? lineLengths.length, lineLengths.length);
  const charsBefore = (count: number) => lineLengths.slice(0, count).reduce((sum, length) => sum + length, 0);
  return { start: Math.min(charsBefore(first - 1), total), end: Math.min(charsBefore(last), total) };
}

function checkOrder(unit: 'char' | 'line', start = 0, end = Number.POSITIVE_INFINITY): void {
  if (end < start) throw invalid(`end_${unit} must not be before start_${unit}`);
}

function invalid(message: string): CarrelError {
  return new CarrelError('invalid_arguments', message);
}
