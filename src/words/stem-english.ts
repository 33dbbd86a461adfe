/**
 * Stems a folded word of the letters a to z, with Porter's stemmer ("An algorithm for suffix stripping", 1980). The steps have
 * the paper's numbers. The package @orama/stemmers is not used, because it stems words in -ion wrong ("connection" → "connec").
 */
export function stemEnglish(word: string): string {
  if (word.length < 3) return word;
  let stem = step1b(word.replace(/(ss|i)es$|([^s])s$/, '$1$2'));
  if (stem.endsWith('y') && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  stem = replaceSuffix(stem, step2);
  stem = replaceSuffix(stem, step3);
  return step5(step4(stem));
}

const step2 = suffixes(
  ...['ational ate', 'tional tion', 'enci ence', 'anci ance', 'izer ize', 'bli ble', 'alli al', 'entli ent', 'eli e'],
  ...['ousli ous', 'ization ize', 'ation ate', 'ator ate', 'alism al', 'iveness ive', 'fulness ful', 'ousness ous'],
  ...['aliti al', 'iviti ive', 'biliti ble', 'logi log'],
);
const step3 = suffixes('icate ic', 'ative ', 'alize al', 'iciti ic', 'ical ic', 'ful ', 'ness ');
const step4Suffix = /^(.+?)(ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|ion|al|er|ic|ou)$/;

function step1b(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const stem = word.replace(/(ed|ing)$/, '');
  if (stem === word || !hasVowel(stem)) return word;
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1);
  return endsShort(stem) ? `${stem}e` : stem;
}

/** Replaces a suffix. Only the first matching one is tried, even if its condition fails. */
function replaceSuffix(word: string, table: readonly (readonly [suffix: string, replacement: string])[]): string {
  for (const [suffix, replacement] of table) {
    if (!word.endsWith(suffix)) continue;
    const stem = word.slice(0, -suffix.length);
    return measure(stem) > 0 ? stem + replacement : word;
  }
  return word;
}

function step4(word: string): string {
  const [, stem = '', suffix] = step4Suffix.exec(word) ?? [];
  if (suffix === 'ion' && !/[st]$/.test(stem)) return word;
  return measure(stem) > 1 ? stem : word;
}

function step5(word: string): string {
  const short = word.slice(0, -1);
  const value = measure(short);
  const stem = word.endsWith('e') && (value > 1 || (value === 1 && !endsShort(short))) ? short : word;
  return stem.endsWith('ll') && measure(stem) > 1 ? stem.slice(0, -1) : stem;
}

/** Returns Porter's m: how often vowels are followed by consonants. */
function measure(word: string): number {
  return letterKinds(word).match(/v+c+/g)?.length ?? 0;
}

function hasVowel(word: string): boolean {
  return letterKinds(word).includes('v');
}

/** True if a word is consonants, one vowel and one consonant that is not w, x or y. */
function endsShort(word: string): boolean {
  return /^c+vc$/.test(letterKinds(word)) && !/[wxy]$/.test(word);
}

/** Replaces each vowel with v and each consonant with c. A y after a consonant is a vowel. */
function letterKinds(word: string): string {
  let kinds = '';
  for (const letter of word) kinds += 'aeiou'.includes(letter) || (letter === 'y' && kinds.endsWith('c')) ? 'v' : 'c';
  return kinds;
}

function suffixes(...pairs: readonly string[]): (readonly [string, string])[] {
  return pairs.map((pair) => {
    const [suffix = '', replacement = ''] = pair.split(' ');
    return [suffix, replacement];
  });
}
