/**
 * Porter's algorithm (M. F. Porter, "An algorithm for suffix stripping", 1980), step numbers as there.
 * Takes a folded word of the letters a to z; gives the stem that its forms have in common.
 */
export function stemEnglish(word: string): string {
  if (word.length < 3) return word;
  // A leading y is a consonant; written large it cannot be taken for a vowel below.
  let stem = word.startsWith('y') ? `Y${word.slice(1)}` : word;
  stem = step1a(stem);
  stem = step1b(stem);
  stem = step1c(stem);
  stem = replaceSuffix(stem, step2, measureAboveZero);
  stem = replaceSuffix(stem, step3, measureAboveZero);
  stem = step4(stem);
  stem = step5(stem);
  return stem.startsWith('Y') ? `y${stem.slice(1)}` : stem;
}

const consonant = '[^aeiou]';
const vowel = '[aeiouy]';
const consonants = `${consonant}[^aeiouy]*`;
const vowels = `${vowel}[aeiou]*`;
const measureAboveZero = new RegExp(`^(${consonants})?${vowels}${consonants}`);
const measureOne = new RegExp(`^(${consonants})?${vowels}${consonants}(${vowels})?$`);
const measureAboveOne = new RegExp(`^(${consonants})?${vowels}${consonants}${vowels}${consonants}`);
const hasVowel = new RegExp(`^(${consonants})?${vowel}`);
const endsShort = new RegExp(`^${consonants}${vowel}[^aeiouwxy]$`);

type Suffixes = readonly (readonly [suffix: string, replacement: string])[];

const step2: Suffixes = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
];

const step3: Suffixes = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];

const step4Suffix =
  /^(.+?)(?:al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize|(?<=[st])ion)$/;

function step1a(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

function step1b(word: string): string {
  if (word.endsWith('eed')) return measureAboveZero.test(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const stem = /^(.+?)(?:ed|ing)$/.exec(word)?.[1];
  if (stem === undefined || !hasVowel.test(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1);
  return endsShort.test(stem) ? `${stem}e` : stem;
}

function step1c(word: string): string {
  return word.endsWith('y') && hasVowel.test(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;
}

/** The first suffix that fits decides, whether or not its condition then holds. */
function replaceSuffix(word: string, suffixes: Suffixes, condition: RegExp): string {
  for (const [suffix, replacement] of suffixes) {
    if (!word.endsWith(suffix)) continue;
    const stem = word.slice(0, -suffix.length);
    return condition.test(stem) ? stem + replacement : word;
  }
  return word;
}

function step4(word: string): string {
  const stem = step4Suffix.exec(word)?.[1];
  return stem !== undefined && measureAboveOne.test(stem) ? stem : word;
}

function step5(word: string): string {
  let result = word;
  if (result.endsWith('e')) {
    const stem = result.slice(0, -1);
    if (measureAboveOne.test(stem) || (measureOne.test(stem) && !endsShort.test(stem))) result = stem;
  }
  return result.endsWith('ll') && measureAboveOne.test(result) ? result.slice(0, -1) : result;
}
