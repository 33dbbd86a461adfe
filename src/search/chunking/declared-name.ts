/** The name that a line of code declares, if any. Goes by keywords and shapes that languages share, not by grammars. */
export function declaredName(line: string, language: string | undefined): string | undefined {
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

/** `key:`, `"key": {`, and `- name: x` of an item. */
function keyName(text: string): string | undefined {
  const key = /^(?:-\s+)?(?:"((?:[^"\\]|\\.){1,80})"|'([^']{1,80})'|([\w.$@/ -]{1,80}?))\s*:(?:\s|$)/.exec(text);
  return key?.slice(1).find((group) => group !== undefined);
}

const modifiers =
  '(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|open|override|virtual|inline|async|const|extern|unsafe|pub(?:\\([^)]*\\))?|partial|data|readonly|declare|local|suspend|case|virtual|synchronized|native)\\s+)*';

const patterns: readonly RegExp[] = [
  // Go: a method, with its receiver.
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
  // C and its relatives: a type, a name, arguments and an opening brace.
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
