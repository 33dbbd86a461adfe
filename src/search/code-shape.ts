/**
 * Whether a text is program code rather than prose, by the shape of its lines. It decides that a passage is embedded
 * as one, because the parts of a function mean little alone (see docs/benchmarks-search.md), so a mistake costs little.
 */
export function looksLikeCode(text: string): boolean {
  const lines = text
    .slice(0, unitsRead)
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length === 0) return false;
  const codeLines = lines.filter((line) => codeLine.test(line)).length;
  return codeLines / lines.length >= (lines.length === 1 ? 1 : 0.4) && lines.some((line) => declaration.test(line));
}

/** The words of a piece of code as a sentence would have them: names taken apart, brackets and operators left out. */
export function wordsOfCode(code: string): string {
  return code
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ')
    .replace(/[^\p{L}\p{M}\p{N}.,'\s-]+/gu, ' ')
    .replace(/\b(?:self|this)\b/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The beginning tells. */
const unitsRead = 4_000;

const declaration =
  /^\s*(?:(?:export|public|private|protected|static|async|final|abstract)\s+)*(?:def|class|function|fn|func|fun|interface|struct|enum|impl|const|let|var|import|from|using|package|#include|CREATE|SELECT|INSERT)\b.*[({:;,'"=*>\w]\s*$|[{};]\s*$|^\s*@\w+|^\s*\w+(?:\.\w+)*\(.*\)\s*[:;{]?\s*$/;

const codeLine =
  /[{};]\s*$|\)\s*[:{]?\s*$|^\s*(?:def|class|function|fn|func|return|import|from|if|elif|else|for|while|try|except|raise|with|const|let|var|public|private|static|yield|assert)\b.*[:({;=)\]'"\w]\s*$|^\s*[\w.[\]'"]+\s*[-+*/|&]?=\s*\S|^\s*(?:\/\/|#|\*|""")|"""\s*$|^\s{4,}\S/;
