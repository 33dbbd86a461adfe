/** Evidence in an answer about its results' labels. Fields that Fess omits are undefined. */
export interface LabelEvidence {
  searchQuery: string | undefined;
  hitLabels: readonly (readonly string[] | undefined)[];
  /** Number of results with the label. */
  labelled: number | undefined;
  /** Number of results without it. */
  outside: number | undefined;
  /** Number of results, capped at 10,000. The other counts are not capped. */
  total: number;
}

/**
 * Second line of defence after the query guard. True if all results carry the label, as far as the answer shows. If
 * not, nothing may leave the bridge.
 *
 * The outside count detects a server with `query.orsearch.min.hit.count`. Such a server repeats a search that finds
 * little, with OR between its parts. That makes the label optional, and the echoed query doesn't show it. The labelled
 * count detects the same up to 10,000 results, and does not depend on how the engine reads a pure negation.
 */
export function isWithinLabel(answer: LabelEvidence, label: string): boolean {
  const { searchQuery, hitLabels, labelled, outside, total } = answer;
  if (outside !== undefined && outside > 0) return false;
  if (labelled !== undefined && labelled < total) return false;
  if (searchQuery !== undefined && !isFiltered(searchQuery, label)) return false;
  return hitLabels.every((labels) => labels === undefined || labels.includes(label));
}

/**
 * Whether the parsed query has the label as a separate required clause: it is at the end (only other filters and
 * the sort may follow), everything before it is balanced, and no operator or backslash reaches over to it.
 */
function isFiltered(searchQuery: string, label: string): boolean {
  const filter = `label:"${label}"`;
  const at = searchQuery.lastIndexOf(filter);
  if (at < 0) return false;
  const before = searchQuery.slice(0, at);
  const behind = searchQuery.slice(at + filter.length);
  return isClosed(before) && isHarmlessTail(behind);
}

function isClosed(text: string): boolean {
  if (text.trim() === '') return true;
  if (!/\s$/u.test(text) || /\\\s*$/u.test(text.replaceAll('\\\\', ''))) return false;
  if (/(?:^|[\s(])(?:AND|OR|NOT|&&|\|\||[-+!])\s+$/u.test(text)) return false;
  const bare = text.replaceAll(/\\[\s\S]/g, '').replaceAll(/"[^"]*"/g, '');
  const parentheses = bare.replaceAll(/[^()]/g, '');
  return !bare.includes('"') && depths(parentheses).every((depth) => depth >= 0) && depths(parentheses).at(-1) === 0;
}

function depths(parentheses: string): number[] {
  let depth = 0;
  return ['', ...parentheses].map((character) => {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    return depth;
  });
}

function isHarmlessTail(text: string): boolean {
  return /^(?: [a-z_]+:"[^"\\]*")*(?: sort:[a-z_.,]+)?$/.test(text);
}
