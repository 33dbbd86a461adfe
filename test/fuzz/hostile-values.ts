import type { Random } from './random.ts';

const strings = [
  ...[
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udfff\ud800',
    '\u202eabc',
    '\u200b',
    'ﬀ',
    'İ',
    'ß',
    '\u0301',
    '👩‍👩‍👧‍👦',
    '漢字かな',
    'ก',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'null',
    'undefined',
    'NaN',
    'true',
    '[]',
    '{}',
    '-1',
    '1e999',
  ],
  ...[
    "' OR 1=1--",
    '"',
    '*',
    '(',
    'NEAR(a b, 5)',
    'a AND',
    'title : x',
    '-',
    '^a',
    '{a b}: c',
    '%',
    '_',
    '\\',
    '$.x',
    'a.b',
    '[0]',
  ],
  ...[
    '../../etc/passwd',
    '/etc/passwd',
    'C:\\x',
    '%2e%2e/',
    'file:///etc/passwd',
    'http://127.0.0.1:1/',
    'http://169.254.169.254/',
  ],
  ...[
    'javascript:alert(1)',
    '$(id)',
    '`id`',
    '|id',
    '<script>',
    '\r\nX: y',
    '2024-02-30',
    '9999-12-31T24:00:00Z',
    'now',
    '(a+)+$',
    '[',
    '(?<',
  ],
  ...['kb://1', 'context://entry/1', 'note://x', 'fess://d/doc/1', 'YQ==', '=?base64?YQ==?='],
];

const scalars = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1,
  1.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  2 ** 63,
  [],
  {},
  [[]],
  [null],
  { a: null },
];

/** A value that no tool expects. */
export function hostileValue(random: Random): unknown {
  const kind = random.below(10);
  if (kind < 4) return hostileString(random);
  if (kind < 7) return structuredClone(random.pick(scalars));
  if (kind === 7) return nested(random, 1 + random.below(random.chance(0.05) ? 200 : 20));
  if (kind === 8)
    return Array.from({ length: random.below(random.chance(0.05) ? 3000 : 30) }, () => hostileString(random));
  return Object.fromEntries(
    Array.from({ length: random.below(12) }, () => [hostileString(random), structuredClone(random.pick(scalars))]),
  );
}

export function hostileString(random: Random): string {
  const text = random.pick(strings);
  if (random.chance(0.9)) return text;
  const characters = random.chance(0.03) ? 200_000 : 3000;
  return (text === '' ? 'x' : text).repeat(Math.ceil((characters * random.next()) / Math.max(1, text.length)));
}

function nested(random: Random, depth: number): unknown {
  let value: unknown = structuredClone(random.pick(scalars));
  for (let level = 0; level < depth; level += 1) value = random.chance(0.5) ? [value] : { a: value };
  return value;
}
