/** Evidence in an answer of Fess about the labels of its results. A field is undefined if the answer lacks it. */
interface LabelEvidence {
  searchQuery: string | undefined;
  hitLabels: readonly (readonly string[] | undefined)[];
  /** Number of results with the label. */
  labelled: number | undefined;
  /** Number of results without the label. */
  outside: number | undefined;
  /** Number of results, capped at 10,000. The other counts are not capped. */
  total: number;
}

/**
 * Returns false if the answer shows results without the label. Then no result may be returned. This is the second line of
 * defense, after the query guard.
 *
 * The counts detect servers with `query.orsearch.min.hit.count`. If a search finds little, such a server repeats it with OR
 * between its parts, which makes the label optional. The query in the answer doesn't show the OR.
 */
export function isWithinLabel(answer: LabelEvidence, label: string): boolean {
  const { searchQuery, hitLabels, labelled, outside, total } = answer;
  if (outside !== undefined && outside > 0) return false;
  if (labelled !== undefined && labelled < total) return false;
  if (searchQuery !== undefined && !isFiltered(searchQuery, label)) return false;
  return hitLabels.every((labels) => labels === undefined || labels.includes(label));
}

/**
 * Returns true if the query in the answer ends with the label as a separate required clause. Only other filters and the
 * sort may follow. Before it, an operator, a backslash, or an unbalanced quote or parenthesis would change its meaning.
 */
function isFiltered(searchQuery: string, label: string): boolean {
  const filter = `label:"${label}"`;
  const at = searchQuery.lastIndexOf(filter);
  if (at < 0) return false;
  const before = searchQuery.slice(0, at);
  const after = searchQuery.slice(at + filter.length);
  return isClosed(before) && isHarmlessTail(after);
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
