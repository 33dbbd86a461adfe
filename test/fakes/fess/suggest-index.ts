/** A word of the suggest index. `searched` says how often it was searched for. */
export interface FakeWord {
  text: string;
  labels: readonly string[];
  fields: readonly string[];
  roles: readonly string[];
  searched: number;
}

export interface Suggestions {
  total: number;
  words: { text: string; labels: readonly string[] }[];
}

/** Returns words that begin with `q` and have any of the labels and fields. `fieldParameter` is `field` in v1, `fn` in v2. */
export function suggest(
  index: readonly FakeWord[],
  params: URLSearchParams,
  permissions: ReadonlySet<string>,
  fieldParameter: 'field' | 'fn',
): Suggestions {
  const prefix = (params.get('q') ?? '').toLowerCase();
  const num = /^\d+$/.test(params.get('num') ?? '') ? Number(params.get('num')) : 10;
  const matches = index
    .filter((word) => word.text.toLowerCase().startsWith(prefix))
    .filter(
      (word) => overlaps(word.labels, params.getAll('label')) && overlaps(word.fields, params.getAll(fieldParameter)),
    )
    .filter((word) => word.roles.some((role) => permissions.has(role)));
  const size = fieldParameter === 'fn' ? Math.min(num, 100) : num;
  return { total: matches.length, words: matches.slice(0, size).map(({ text, labels }) => ({ text, labels })) };
}

/** Returns at most ten single words that were searched for at least ten times. The seed shuffles them. */
export function popularWords(
  index: readonly FakeWord[],
  params: URLSearchParams,
  permissions: ReadonlySet<string>,
): string[] {
  const seed = params.get('seed') ?? '0';
  return index
    .filter((word) => word.searched >= 10 && !word.text.includes(' '))
    .filter((word) => overlaps(word.labels, params.getAll('label')) && overlaps(word.fields, params.getAll('field')))
    .filter((word) => word.roles.some((role) => permissions.has(role)))
    .toSorted((a, b) => b.searched - a.searched)
    .slice(0, 30)
    .map((word) => ({ text: word.text, rank: seed === '0' ? 0 : hash(`${seed}:${word.text}`) }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, 10)
    .map(({ text }) => text);
}

function overlaps(values: readonly string[], requested: readonly string[]): boolean {
  return requested.length === 0 || requested.some((value) => values.includes(value));
}

function hash(text: string): number {
  let value = 7;
  for (const character of text) value = (value * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return value;
}
