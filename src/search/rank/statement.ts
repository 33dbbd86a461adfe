import { analyse } from '../../words/analyse.ts';
import { stemOf } from '../../words/language.ts';
import { questionWords } from '../../words/question-words.ts';
import { changedThings, changeWords, sentence } from './change-reports.ts';

/** What a text is about. Its topical words exclude values, times and words that any statement has. */
export interface Statement {
  readonly words: ReadonlySet<string>;
  /** The names among the words. A name may be the subject, or part of what is said about it. */
  readonly names: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
  readonly hasTime: boolean;
  /** The first run of adjacent topical words. */
  readonly lead: readonly string[];
  /** The words before the verb or colon, if found. */
  readonly subject: Subject | undefined;
  /** For each topical word, the topical words right before it. */
  readonly before: Neighbours;
  /** For each topical word, the topical words right after it. */
  readonly after: Neighbours;
  /** For each topical word, the names and numbers right after it. */
  readonly namesAfter: Neighbours;
  /** Topical words that occur at least once without another topical word right before them. */
  readonly bare: ReadonlySet<string>;
  readonly isPreference: boolean;
  /** True if the text reports a past event, which nothing newer replaces. */
  readonly isEvent: boolean;
  /** True if the text has "I", "me" or "mine". */
  readonly isFirstPerson: boolean;
  /** True if the text has "he", "she", "his" or "her". */
  readonly isThirdPerson: boolean;
  /** The words after "my". */
  readonly mine: readonly string[];
}

/** What a text states, and what it reports as changed. */
export interface Statements {
  /** The first sentence; for a short text, also the text as a whole. */
  readonly stated: readonly Statement[];
  /** One per sentence that reports a change. Its statement includes the adjacent sentences. */
  readonly reports: readonly Report[];
}

interface Report {
  readonly statement: Statement;
  /** The words for what was changed; undefined if not said. */
  readonly changed: readonly (string | undefined)[];
}

type Neighbours = ReadonlyMap<string, ReadonlySet<string>>;

interface Subject {
  /** Runs of adjacent words. */
  readonly runs: readonly (readonly string[])[];
  readonly numbers: readonly string[];
  /** Names and possessives: "the office in Oslo", "John's number". */
  readonly names: readonly string[];
  /** True if the subject ends at "is" or a colon, rather than at a verb that may be a noun. */
  readonly hasClearEnd: boolean;
}

interface Token {
  readonly term: string;
  /** The stem, if the word is topical. */
  readonly word: string | undefined;
  /** True if only a space, a joining character (`-`, `.`) or a possessive `'s` separates it from the previous token. */
  readonly isAdjacent: boolean;
  /** True if a colon separates it from the previous token. */
  readonly isAfterColon: boolean;
  readonly isAfterSentence: boolean;
  readonly isName: boolean;
  readonly isNumber: boolean;
  readonly isPossessive: boolean;
}

const wordsAndStems = (words: string) =>
  new Set(
    words
      .trim()
      .split(/\s+/)
      .flatMap((word) => [word, stemOf(word)]),
  );

/** Words for times. Like other values, they may differ between an old and a new statement, so they are not topical. */
const times =
  wordsAndStems(`monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
  september october november december today yesterday tomorrow morning afternoon evening night noon midnight am pm utc
  minute hour day week month year daily weekly monthly yearly weekday weekend every o'clock`);
const values = new Set([
  ...times,
  ...wordsAndStems(`zero one two three four five six seven eight nine ten twelve fifteen twenty thirty fifty hundred thousand million first
    second third last next half each per time percent euro dollar pound eur usd kb mb gb tb ms degree`),
]);

/** Words that can be in any statement, and so are not topical. */
const general =
  wordsAndStems(`decision decide decided update updated change changed correction note info fyi reminder agreed agree new
  old now longer instead anymore again please use used using get got gets take taken make made have keep kept set need want
  like prefer place above below within between since than least start stop back let say said tell told go goes going come give
  put yes no ok okay plan planned currently current former previous btw heads another different other actually turn out good
  far best happen happens hey hi hello wow yeah thanks thank glad really`);

const preference = /\b(?:prefers?|likes?|loves?|hates?|favou?rites?|would rather|['’]d rather|wants?)\b/i;
const event = /\b(?:yesterday|ago|last (?:week|weekend|night|morning|month|year|\w+day))\b/i;
const firstPerson = /\b(?:I|me|mine)\b/;
const mine = /\bmy\s+(\p{L}+)/giu;
const thirdPerson = /\b(?:he|she|his|her)\b/i;
const auxiliary = /^(?:is|are|was|were|has|have|had|can|will|must|does|did)$/;
const pronoun = /^(?:i|we|you|they|he|she)$/;
const thirdPersonVerb = /[^s]s$/;
const adjacentGap = /^(?:\s|[-_.@/]|['’]s?\s?)$/;
const sentenceStart = /(?:^|[.!?:;\n]\s*)$/;
/** Matches names of machines, addresses and versions: acme.test, eu-central-1, B12. */
const joined = /\p{L}[.@_]\p{L}|\p{L}-\p{N}|\p{L}\p{N}/u;
const capital = /^(?:\p{Lu}\p{Ll}|(?!I$)\p{Lu}$|\p{N})/u;
/** Matches the speaker in a chat log ("Mel: Hey!"), but not "Correction: Mel …". */
const speaker = /^\s*(?!(?:Correction|Update|Decision|Change):)\p{Lu}\p{Ll}+:\s+(?=\p{Lu})/u;
const number = /^\p{N}/u;

/** Max sentences of a text. Longer texts are conversation or prose and are not compared. */
const sentencesMax = 4;

export function statementsOf(message: string): Statements {
  const text = message.replace(speaker, '');
  const sentences =
    text
      .match(sentence)
      ?.map((each) => each.trim())
      .filter((each) => each !== '') ?? [];
  if (sentences.length > sentencesMax) return { stated: [], reports: [] };
  const [first = '', ...others] = sentences;
  const whole = statementOf(text);
  const lead = others.length > 0 && !/[?!]$/.test(first) ? statementOf(first) : undefined;
  return {
    stated: [...(others.length < 2 && !text.includes('?') ? [whole] : []), ...(lead?.subject ? [lead] : [])],
    reports: sentences.flatMap((each, index) => {
      const things = changedThings(each);
      if (things.length === 0) return [];
      const statement = statementOf(sentences.slice(Math.max(0, index - 1), index + 2).join(' '));
      return [{ statement, changed: things.map((thing) => tokensOf(thing).at(-1)?.word) }];
    }),
  };
}

function statementOf(text: string): Statement {
  const tokens = tokensOf(text);
  const words = tokens.flatMap(({ word }) => word ?? []);
  const adjacent = tokens.flatMap((token, index) => {
    const left = tokens[index - 1]?.word;
    return token.isAdjacent && left !== undefined ? [{ left, token }] : [];
  });
  const pairs = adjacent.flatMap(({ left, token: { word } }) => (word === undefined ? [] : [{ left, right: word }]));
  const first = tokens.findIndex((_, index) => isSubjectWord(tokens, index));
  const gap = tokens.findIndex(({ word, isAdjacent }, index) => index > first && (word === undefined || !isAdjacent));
  return {
    words: new Set(words),
    names: new Set(tokens.flatMap(({ word, isName }) => (isName && word !== undefined ? [word] : []))),
    numbers: new Set(tokens.flatMap(({ term, isNumber }) => (isNumber ? [term] : []))),
    hasTime: tokens.some(({ term }) => times.has(term) || times.has(stemOf(term))),
    lead: tokens.slice(Math.max(0, first), gap === -1 ? undefined : gap).flatMap(({ word }) => word ?? []),
    subject: subjectOf(tokens),
    before: neighbours(pairs.map(({ left, right }) => [right, left])),
    after: neighbours(pairs.map(({ left, right }) => [left, right])),
    bare: new Set(
      tokens.flatMap(({ word, isAdjacent }, index) =>
        word !== undefined && !(isAdjacent && tokens[index - 1]?.word !== undefined) ? [word] : [],
      ),
    ),
    namesAfter: neighbours(
      adjacent.flatMap(({ left, token }) =>
        token.isName || token.isNumber ? [[left, token.word ?? token.term] as const] : [],
      ),
    ),
    isPreference: preference.test(text),
    isEvent: event.test(text),
    isFirstPerson: firstPerson.test(text),
    isThirdPerson: thirdPerson.test(text),
    mine: Array.from(text.matchAll(mine), ([, word = '']) => stemOf(word.toLowerCase())),
  };
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let lastEnd = 0;
  analyse(text, (term, start, end, isExtra) => {
    if (isExtra) return;
    const gap = text.slice(lastEnd, start);
    const written = text.slice(start, end);
    const isStart = sentenceStart.test(text.slice(Math.max(0, start - 5), start));
    tokens.push({
      term,
      word: topicalStem(term),
      isAdjacent: lastEnd > 0 && adjacentGap.test(gap),
      isAfterColon: /:\s/.test(gap),
      isAfterSentence: /[.;!?\n]\s/.test(gap),
      isName: (capital.test(written) && !isStart) || joined.test(chunkAround(text, start, end)),
      isNumber: number.test(term),
      isPossessive: /^['’]s\b|^s['’]\s/.test(text.slice(end, end + 3)),
    });
    lastEnd = end;
  });
  return tokens;
}

/** Returns the whole word between spaces, with its punctuation. */
function chunkAround(text: string, start: number, end: number): string {
  const head = /\S*$/.exec(text.slice(Math.max(0, start - 40), start))?.[0] ?? '';
  return head + (/^\S*/.exec(text.slice(start, end + 40))?.[0] ?? '');
}

function topicalStem(term: string): string | undefined {
  const stem = stemOf(term);
  const isTopical = /\p{L}/u.test(term) && term.length > 1 && !questionWords.has(term) && !changeWords.has(term);
  return isTopical && ![term, stem].some((form) => values.has(form) || general.has(form)) ? stem : undefined;
}

/** True if a topical word may be in the subject. Right after a pronoun, it is a verb. */
function isSubjectWord(tokens: readonly Token[], index: number): boolean {
  return tokens[index]?.word !== undefined && !pronoun.test(tokens[index - 1]?.term ?? '');
}

function subjectOf(tokens: readonly Token[]): Subject | undefined {
  const first = tokens.findIndex((_, index) => isSubjectWord(tokens, index));
  const end = tokens.findIndex(
    (token, index) => index > first && (token.isAfterSentence || endsSubject(tokens, index)),
  );
  if (first === -1 || end === -1 || tokens[end]?.isAfterSentence) return undefined;
  const inside = tokens.slice(0, end);
  const runs: string[][] = [];
  for (const [index, { word, isAdjacent }] of inside.entries()) {
    if (word === undefined || !isSubjectWord(tokens, index)) continue;
    const run = isAdjacent && isSubjectWord(tokens, index - 1) ? runs.at(-1) : undefined;
    if (run) run.push(word);
    else runs.push([word]);
  }
  const numbers = inside.flatMap(({ term, isNumber }) => (isNumber ? [term] : []));
  const { isAfterColon = false, term = '' } = tokens[end] ?? {};
  const names = inside.flatMap(({ word, isName, isPossessive }) =>
    (isName || isPossessive) && word !== undefined ? [word] : [],
  );
  return { runs, numbers, names, hasClearEnd: isAfterColon || auxiliary.test(term) };
}

/** True if the subject ends before this word: "is" or similar, a verb such as "runs", or the first word after a colon. */
function endsSubject(tokens: readonly Token[], index: number): boolean {
  const [token, next] = [tokens[index], tokens[index + 1]];
  if (token === undefined || token.isAfterColon || auxiliary.test(token.term)) return true;
  const isPluralNoun =
    next === undefined || next.isAfterColon || auxiliary.test(next.term) || (next.word !== undefined && !next.isName);
  const isVerb = thirdPersonVerb.test(token.term) && !values.has(token.term) && !values.has(stemOf(token.term));
  return token.isAdjacent && !token.isName && isVerb && !isPluralNoun;
}

function neighbours(pairs: readonly (readonly [word: string, neighbour: string])[]): Neighbours {
  const sets = Map.groupBy(pairs, ([word]) => word);
  return new Map([...sets].map(([word, found]) => [word, new Set(found.map(([, neighbour]) => neighbour))]));
}

/** Both statements must share more than this fraction of the shorter one's words. */
const sharedMin = 0.5;
/** Min share of each statement's words that both have. */
const coveredMin = { older: 0.4, newer: 0.25 } as const;

/** True if the newer text reports a change to something that the older one states. */
export function replaces(newer: Statements, older: Statements): boolean {
  return newer.reports.some(({ statement, changed }) =>
    older.stated.some(
      (stated) =>
        changed.some((thing) => thing === undefined || stated.words.has(thing)) && haveSameSubject(stated, statement),
    ),
  );
}

/**
 * True if the newer text has the subject and most words of the older one, and no conflicting name: "rate limit" differs from
 * "upload limit", and so do offices in two cities.
 */
function haveSameSubject(older: Statement, newer: Statement): boolean {
  if (older.isEvent) return false;
  const { subject } = older;
  const shared = [...older.words].filter((word) => newer.words.has(word));
  if (!shared.some((word) => !older.names.has(word) && !newer.names.has(word))) return false;
  const [olderSize, newerSize] = [comparableSize(older, newer), comparableSize(newer, older)];
  if (shared.length / Math.min(olderSize, newerSize) <= sharedMin) return false;
  if (shared.length / olderSize < coveredMin.older || shared.length / newerSize < coveredMin.newer) return false;
  if (isAboutAnotherPerson(older, newer) || (olderSize === 1 && newerSize > 1 && !haveSimilarValues(older, newer)))
    return false;
  const lead = older.lead.filter((word) => newer.words.has(word));
  const isNamed = subject ? subject.runs.every((run) => isNamedIn(run, newer)) : lead.length > 0;
  if (!isNamed || subject?.names.some((each) => !newer.words.has(each))) return false;
  if (subject?.numbers.some((each) => !newer.numbers.has(each))) return false;
  const isIn = (word: string) => newer.words.has(word) && !older.names.has(word);
  const compared = subject?.hasClearEnd ? subject.runs.flat() : older.isPreference ? lead : shared.filter(isIn);
  if (compared.some((word) => neighboursConflict(older.before.get(word), newer.before.get(word), older, newer)))
    return false;
  const first = subject?.runs[0]?.at(-1) ?? older.lead[0] ?? '';
  if (neighboursConflict(older.namesAfter.get(first), newer.namesAfter.get(first), older, newer)) return false;
  return newer.bare.has(first) || ![...(newer.before.get(first) ?? [])].some((word) => !older.words.has(word));
}

/** True if both texts have a time or, if the older has no time, both have numbers. Needed because one-word subjects are broad. */
function haveSimilarValues(older: Statement, newer: Statement): boolean {
  return older.hasTime ? newer.hasTime : older.numbers.size > 0 && newer.numbers.size > 0;
}

/** True if the statement names this thing: "the kickoff" and "the meeting" name "the kickoff meeting", "kickoff agenda" doesn't. */
function isNamedIn(run: readonly string[], { words, after }: Statement): boolean {
  if (words.has(run.at(-1) ?? '')) return true;
  return run.some((word) => words.has(word) && after.get(word) === undefined);
}

function isAboutAnotherPerson(older: Statement, newer: Statement): boolean {
  if (!older.isFirstPerson || newer.isFirstPerson) return false;
  return newer.isThirdPerson || newer.mine.some((word) => !older.words.has(word));
}

/** Counts a statement's topical words, without names that the other text lacks. */
function comparableSize({ words, names }: Statement, other: Statement): number {
  return Math.max(1, [...words].filter((word) => !names.has(word) || other.words.has(word)).length);
}

/** True if a word has neighbours in both texts and neither text contains the other's neighbours. */
function neighboursConflict(
  left: ReadonlySet<string> | undefined,
  right: ReadonlySet<string> | undefined,
  older: Statement,
  newer: Statement,
): boolean {
  if (left === undefined || right === undefined) return false;
  const isShared = [...left].some((word) => newer.words.has(word) || right.has(word));
  return !isShared && ![...right].some((word) => older.words.has(word));
}
