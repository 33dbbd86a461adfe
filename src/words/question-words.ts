/**
 * Words that a question is made of and an answer is not: they carry no weight unless a query has no other.
 * Folded, not stemmed; the halves of contractions are there because an apostrophe parts a word.
 */
export const questionWords: ReadonlySet<string> = new Set(
  `a about after all also am an and any are as at be because been before being both but by can could did do does doing
   don for from had has have having he her here hers him his how i if in into is it its itself just ll me might more most
   my myself no nor not of off on once only or other our ours out over own re s same she should so some such t than that
   the their theirs them then there these they this those through to too under until up ve very was we were what when
   where which while who whom whose why will with would you your yours d m`.split(/\s+/),
);
