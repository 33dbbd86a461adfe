/** Guesses from the form of its lines whether a text is code rather than prose. A mistake costs little. */
export function looksLikeCode(text: string): boolean {
  const lines = text
    .slice(0, unitsRead)
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length === 0) return false;
  const codeLines = lines.filter((line) => codeLine.test(line)).length;
  return (
    codeLines / lines.length >= (lines.length === 1 ? 1 : codeShareMin) && lines.some((line) => declaration.test(line))
  );
}

/**
 * Turns code into words for the embedding model. The programming language comes first, because questions mention it. Names
 * are split into words; brackets and operators are dropped.
 */
export function wordsOfCode(code: string): string {
  const language = languages.find(([, pattern]) => pattern.test(code.slice(0, unitsRead)))?.[0] ?? '';
  return `${language} ${splitIntoWords(code)}`.trim();
}

function splitIntoWords(code: string): string {
  return code
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ')
    .replace(/[^\p{L}\p{M}\p{N}.,'\s-]+/gu, ' ')
    .replace(/\b(?:self|this)\b/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Patterns that identify a programming language. The first match is used; a wrong one costs little. */
const languages: readonly (readonly [name: string, pattern: RegExp])[] = [
  [
    'python',
    /^\s*(?:async )?def \w+\(.*?(?:\).*:|[,(]\s*$)|^from [\w.]+ import |^\s*elif |^\s*class \w+(?:\(.*\))?:\s*$/m,
  ],
  ['php', /<\?php|^\s*\$\w+ = .*;\s*$/m],
  ['rust', /^\s*(?:pub(?:\(\w+\))? )?(?:async )?fn \w+|^\s*impl\b.*\{|^use \w+::|\blet mut /m],
  ['go', /^func (?:\(\w+ \*?[\w[\]]+\) )?\w+\(|^package \w+\s*$/m],
  ['c#', /^using [\w.]+;|^\s*namespace [\w.]+/m],
  [
    'java',
    /^import (?:static )?[\w.]+(?:\.\*)?;|^\s*(?:public|private|protected) (?:static |final |abstract )*[\w<>[\], ]+[({]/m,
  ],
  ['c++', /^\s*#include <\w+>|\bstd::|^\s*template\s*</m],
  ['c', /^\s*#(?:include|define)\b/m],
  ['typescript', /^\s*(?:export )?(?:interface|type) \w+|\w\)?: (?:string|number|boolean|void|Promise<)/m],
  ['javascript', /^\s*(?:export |default |async )*(?:function\b|(?:const|let|var) \w+ =)|=> |\brequire\(/m],
  ['ruby', /^\s*def [\w.?!]+(?: |\(|$)|^\s*end\s*$/m],
  ['sql', /^\s*(?:SELECT|INSERT INTO|CREATE TABLE|UPDATE \w+ SET|DELETE FROM)\b/im],
];

/** Max characters read to recognise code and its language. */
const unitsRead = 4_000;

/** Min share of lines that look like code. */
const codeShareMin = 0.4;

const declaration =
  /^\s*(?:(?:export|public|private|protected|static|async|final|abstract)\s+)*(?:def|class|function|fn|func|fun|interface|struct|enum|impl|const|let|var|import|from|using|package|#include|CREATE|SELECT|INSERT)\b.*[({:;,'"=*>\w]\s*$|[{};]\s*$|^\s*@\w+|^\s*\w+(?:\.\w+)*\(.*\)\s*[:;{]?\s*$/;

const codeLine =
  /[{};]\s*$|\)\s*[:{]?\s*$|^\s*(?:def|class|function|fn|func|return|import|from|if|elif|else|for|while|try|except|raise|with|const|let|var|public|private|static|yield|assert)\b.*[:({;=)\]'"\w]\s*$|^\s*[\w.[\]'"]+\s*[-+*/|&]?=\s*\S|^\s*(?:\/\/|#|\*|""")|"""\s*$|^\s{4,}\S/;
