import { type Chunk, chunkUnitsMax, type Span } from './chunk.ts';
import { type CodeLine, codeLines, type Unit, unitsOf } from './code-units.ts';
import { forcedPieces } from './sentences.ts';

/** Small declarations share a chunk up to this fraction of the max length. Smaller chunks are found more precisely. */
const sharedFraction = 0.5;

/** Max lines of a body that are read to find its indent. */
const indentLinesMax = 10_000;

/** Max nesting. Deeper blocks are split between lines instead of by structure. */
const depthMax = 12;

/**
 * Chunks code, and data with nested structure (YAML, JSON), by indentation. A declaration that fits stays whole, with its
 * comments; a longer one is split within its body. A chunk's path is the names of the declarations around it.
 */
export function chunkCode(text: string, language: string | undefined, lengthMax = chunkUnitsMax): Chunk[] {
  const chunks: Chunk[] = [];
  for (const part of partsOf(text)) pack(codeLines(text, part), [], 0);
  return chunks;

  function pack(lines: readonly CodeLine[], path: readonly string[], depth: number): void {
    let open: (Span & { names: string[] }) | undefined;
    const close = () => {
      if (open) push(open, open.names.length === 1 ? withName(path, open.names[0]) : path);
      open = undefined;
    };
    for (const unit of unitsOf(lines)) {
      const { start, end } = spanOf(unit);
      if (end - start > lengthMax) {
        close();
        splitUnit(unit, path, depth);
        continue;
      }
      const name = declaredName(unit.head.text, language);
      const hasDeclaration = name !== undefined || (open?.names.length ?? 0) > 0;
      if (open && hasDeclaration && end - open.start > lengthMax * sharedFraction && !unit.isTail) close();
      if (open && end - open.start > lengthMax) close();
      open = { start: open?.start ?? start, end, names: open?.names ?? [] };
      if (name !== undefined) open.names.push(name);
    }
    close();
  }

  /** Splits a declaration longer than a chunk into its head and parts of its body, under its name. */
  function splitUnit(unit: Unit, path: readonly string[], depth: number): void {
    const inner = withName(path, declaredName(unit.head.text, language));
    const bodyAt = unit.lines.indexOf(unit.head) + 1;
    const body = unit.lines.slice(bodyAt);
    const inside = body.filter(({ isBlank, indent }) => !isBlank && indent > unit.head.indent);
    if (depth >= depthMax || inside.length === 0) {
      for (const piece of linePieces(unit.lines)) push(piece, inner);
      return;
    }
    const indent = Math.min(...inside.slice(0, indentLinesMax).map((line) => line.indent));
    // The head stays with the first part of the body. Closing brackets, indented like the head, stay with the last part.
    const lines = [
      ...unit.lines.slice(0, bodyAt).map((line) => ({ ...line, indent, isLeading: true })),
      ...body.map((line) => ({ ...line, indent: Math.max(line.indent, indent) })),
    ];
    pack(lines, inner, depth + 1);
  }

  /** Groups consecutive lines, as many as fit. */
  function linePieces(lines: readonly CodeLine[]): Span[] {
    const pieces: Span[] = [];
    for (const { start, end, isBlank } of lines) {
      const last = pieces.at(-1);
      if (isBlank) continue;
      if (last && end - last.start <= lengthMax) last.end = end;
      else pieces.push({ start, end });
    }
    return pieces;
  }

  function push({ start, end }: Span, titlePath: readonly string[]): void {
    const pieces = end - start > lengthMax ? forcedPieces(text, { start, end }, lengthMax) : [{ start, end }];
    for (const piece of pieces) {
      chunks.push({ ...piece, text: text.slice(piece.start, piece.end), titlePath });
    }
  }
}

/** Length of a part, in UTF-16 units. Huge texts are read in parts to save memory. */
const partUnits = 1_000_000;
/** How much longer a part may be, so that it ends before an unindented line. */
const partExtraMax = 100_000;

/** Splits a text between lines. Most texts are one part. */
function* partsOf(text: string): Generator<Span> {
  for (let start = 0; start < text.length; ) {
    const end = text.length - start <= 2 * partUnits ? text.length : partEnd(text, start + partUnits);
    yield { start, end };
    start = end;
  }
}

function partEnd(text: string, from: number): number {
  const outer = /\n(?=[^\s\]})])/.exec(text.slice(from, from + partExtraMax));
  if (outer) return from + outer.index + 1;
  const newline = text.indexOf('\n', from);
  return newline === -1 ? text.length : newline + 1;
}

function withName(path: readonly string[], name: string | undefined): readonly string[] {
  return name === undefined || path.at(-1) === name ? path : [...path, name];
}

function spanOf({ lines }: Unit): Span {
  return { start: lines[0]?.start ?? 0, end: lines.findLast(({ isBlank }) => !isBlank)?.end ?? 0 };
}

/** Returns the name that a line declares, if any. Uses keywords and patterns that languages share, not grammars. */
function declaredName(line: string, language: string | undefined): string | undefined {
  const text = line.slice(0, lineUnitsMax).trim();
  if (language === 'xml') return /^([\w.-]+(?::[\w.-]+)?)(?:\s.*)?:(?:\s|$)/.exec(text)?.[1];
  if (language === 'yaml' || language === 'json') return keyName(text);
  if (keywords.has(/^[\w]+/.exec(text)?.[0] ?? '')) return undefined;
  for (const pattern of patterns) {
    const name = pattern
      .exec(text)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (name !== undefined && !keywords.has(name)) return name.slice(0, nameUnitsMax);
  }
  return undefined;
}

const lineUnitsMax = 240;
const nameUnitsMax = 80;

/** Returns the key in `key:`, `"key": {` or `- name: x`. */
function keyName(text: string): string | undefined {
  const key = /^(?:-\s+)?(?:"((?:[^"\\]|\\.){1,80})"|'([^']{1,80})'|([\w.$@/ -]{1,80}?))\s*:(?:\s|$)/.exec(text);
  return key?.slice(1).find((group) => group !== undefined);
}

const modifiers =
  '(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|open|override|virtual|inline|async|const|extern|unsafe|pub(?:\\([^)]*\\))?|partial|data|readonly|declare|local|suspend|case|virtual|synchronized|native)\\s+)*';

const patterns: readonly RegExp[] = [
  // Go method with its receiver.
  /^func\s+\(\s*\w*\s*(\*?\w[\w.[\]]*\)\s*\w+)/,
  new RegExp(
    `^${modifiers}(?:class|interface|struct|enum(?:\\s+class)?|trait|module|namespace|object|record|protocol|extension|union|type|message|service|contract|library|package\\s+object|defmodule|typedef\\s+struct)\\s+([A-Za-z_$][\\w$]*(?:(?:\\.|::)[\\w$]+)*)`,
  ),
  new RegExp(
    `^${modifiers}(?:function\\*?|def|defp|defn-?|defun|fn|func|fun|sub|proc|procedure|macro_rules!|macro)\\s+([A-Za-z_$][\\w$]*(?:(?:\\.|::)[\\w$]+)*[?!]?)`,
  ),
  /^impl(?:<[^>]*>)?\s+([^{]{1,80}?)\s*(?:where\b.*)?\{?$/,
  /^(?:export\s+)?(?:default\s+)?(?:const|let|var|val)\s+([A-Za-z_$][\w$]*)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\(|<|[\w$]+\s*=>)/,
  /^create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:unique\s+)?(?:table|view|materialized\s+view|index|function|procedure|trigger|type|schema)\s+(?:if\s+not\s+exists\s+)?([\w."`[\]]+)/i,
  // TOML, INI.
  /^\[\[?([^\]]{1,80})\]\]?$/,
  // HCL.
  /^(?:resource|data|module|variable|output|provider|locals)\s+((?:"[^"]*"\s*)*)\{$/,
  // C family: a type, a name, arguments and an opening brace.
  /^(?:[\w:<>,*&[\]~]+\s+)*[*&]*([A-Za-z_~][\w:~]*)\s*\([^;]*(?:\)[^;{]*\{?|,)$/,
  // Make.
  /^([\w.%/-]+)\s*:(?!=)(?:\s|$)/,
  // Style sheets.
  /^([.#@]?[\w-][^{}();=]{0,80}?)\s*\{$/,
];

const keywords = new Set(
  'if for while switch return else catch do try new throw sizeof await yield foreach using lock with when match loop unless until not and or'.split(
    ' ',
  ),
);
