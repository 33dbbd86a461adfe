/** Verbs that report a change. Only inflected forms: "change" and "to change" are an instruction or a topic. */
const reported = `changed changes moved moves switched switches replaced replaces renamed raised lowered cut reduced
  decreased increased extended shortened doubled halved bumped upgraded downgraded migrated rescheduled postponed delayed
  cancelled canceled slipped pushed brought deprecated superseded supersedes overruled retired left resigned reset reverted
  reverts rolled dropped abandoned lifted tightened relaxed relicensed handed hands taken takes took swapped corrected revised
  amended withdrawn rescinded discontinued removed stopped started turned disabled enabled reassigned transferred relocated
  phased sunset scrapped ditched killed adjusted tuned expanded closed ended expired finished completed resolved fixed granted
  approved rejected passed renewed stepped returned`;
const planned = `change move switch replace rename raise lower cut reduce increase extend shorten bump upgrade downgrade migrate
  reschedule postpone delay cancel push drop deprecate revert hand stop start`;
const [verbs, plans] = [reported, planned].map((words) => words.trim().split(/\s+/).join('|'));

/** Words that report a change. */
export const changeWords: ReadonlySet<string> = new Set(`${reported} ${planned}`.trim().split(/\s+/));

/** Signs that something differs from before. */
const signs = [
  // Time: something holds now that did not hold before.
  'now|nowadays|no longer|no more|any ?more|any longer|from (?:this|next|now|today|tomorrow|\\p{L}+day|january|february|march|april|may|june|july|august|september|october|november|december)|these days|used to|instead|rather than',
  'as of|since|effective|going forward|starting|until further notice|formerly|previously',
  '(?:with|in|from) (?:the )?(?:new |latest |next )?(?:version|release|patch|update)',
  '(?:is|are) (?:history|gone|out|over|dead|obsolete|outdated)|went from|(?:up|down) (?:from|to)',
  // Corrections.
  'correction|revision|corrigendum|erratum|actually|scratch that|disregard|(?:was|were|is) wrong|mistaken',
  String.raw`change of \p{L}+|changed my mind`,
  String.raw`update(?=\s*(?::|$)|\s+(?:to|on)\b)|decided against|updated(?=\s+(?:to|from)\b)|(?:I|we) set`,
  "(?:is|are|am|['’]re|['’]m) (?:now )?(?:moving|switching|changing|dropping|replacing|migrating|retiring)",
  `(?:agreed|decided|going|wants?) to (?:${plans})`,
  // "A changed text", "takes place" and "took part" report no change; "takes over" does.
  String.raw`(?<!\ban?\s)(?:${verbs})(?!\s+(?:place|part|care)\b)`,
];
const changed = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${signs.join('|')})(?![\p{L}\p{N}])`, 'iu');

const forms = `(?:change|move|update|updated|switch|replace|${verbs})`;
/** Matches a clause that says that nothing changed, or that something was added. */
const unchanged = new RegExp(
  [
    String.raw`\b(?:not|never|nobody|no one|n['’]t|nothing|without|should|could|would|might|must|may)\s+(?:\p{L}+\s+){0,4}?${forms}\p{L}*`,
    String.raw`\bstill\b|\bunchanged\b|\b(?:stays?|remains?) (?:as|at|the same|in place)\b`,
    String.raw`\b(?:also|as well|too(?=\s*(?:[.,;!]|$))|additional(?:ly)?|in addition|besides|on top|an? (?:second|third|further|extra))\b`,
    String.raw`\bnow (?:supports?|includes?|offers?|accepts?|reads?|handles?|provides?|contains?)\b(?!.*\d)`,
  ].join('|'),
  'iu',
);
/** Matches a sentence that is a condition, proposal or question, or that adds something. */
const undecided =
  /\b(?:if|whether|maybe|perhaps|propos\p{L}+|suggest\p{L}*|consider(?:s|ed|ing)?|discuss\p{L}*)\b|,?\s+too\s*[.!]?\s*$|\?\s*$/iu;

const quoted = /"[^"]*"|“[^”]*”|«[^»]*»|`[^`]*`/gu;
/** Matches one sentence. Dots inside names and numbers do not end it. */
export const sentence = /[^.!?;\n]+(?:[.](?=\S)[^.!?;\n]*)*[.!?;]?/gu;
const clauseEnd = /[,:;](?=\s)|\s[-–—]\s|\b(?:and|so|but|because|after|when|that)\b/u;
/** Matches a passive: in "the price was cut" and "the list is now shared", the subject was changed. */
const passive = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:is|are|was|were|(?:has|have|had) been|gets?|got)\s+(?:\p{L}+\s+)?(?:now|updated|${verbs})(?![\p{L}\p{N}])`,
  'iu',
);
/** Matches a label at the start of a sentence: "Update: nothing has changed" reports no change. */
const label = /^\s*(?:update|correction)\s*$/iu;
/** Matches "a new number", which replaces a number. */
const renewed = /\bnew\s+(\p{L}+)/iu;
const former = /\b(?:old|former|previous)\b/i;

/**
 * Returns what changed, for each change that a sentence reports: the words before "was changed". An empty string if the
 * sentence is active ("Daniel takes over …"). Quotes, questions, proposals and additions report no change.
 */
export function changedThings(text: string): string[] {
  if (!changed.test(text) && !renewed.test(text)) return [];
  const unquoted = text.replace(quoted, ' ');
  if (undecided.test(unquoted)) return [];
  const clauses = unquoted
    .split(clauseEnd)
    .filter((clause, index, all) => !unchanged.test(label.test(clause) ? (all[index + 1] ?? '') : clause));
  return clauses.flatMap((clause) => [
    ...(changed.test(clause) ? [thingOf(clause)] : []),
    ...(renewed.exec(clause)?.slice(1) ?? []),
  ]);
}

function thingOf(clause: string): string {
  const at = clause.search(passive);
  const thing = at === -1 ? '' : clause.slice(0, at);
  return former.test(thing) ? '' : thing;
}
