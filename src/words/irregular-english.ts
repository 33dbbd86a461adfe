/**
 * Words and their irregular forms, which a suffix stemmer cannot reduce: a question may have "go" and its answer "went".
 * Omits "lives" and "leaves", which are more often forms of "live" and "leave" than of "life" and "leaf".
 */
const forms = `
arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun|bend bent|bind bound
bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|buy bought
catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled
fly flew flown|forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen
get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept
kneel knelt|know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left|lend lent|light lit|lose lost
make made|mean meant|meet met|pay paid|prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|say said
see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown
shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|speed sped|spend spent
spill spilt|spin spun|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|strike struck
strive strove striven|swear swore sworn|sweep swept|swim swam swum|swing swung|take took taken|teach taught|tear tore torn
tell told|think thought|throw threw thrown|understand understood|wake woke woken|wear wore worn|weave wove woven
weep wept|win won|wind wound|withdraw withdrew withdrawn|write wrote written|child children|person people|man men
woman women|foot feet|tooth teeth|goose geese|mouse mice|wife wives|knife knives|half halves
wolf wolves|shelf shelves|bad worse worst|good better best`;

/** Irregular form → base word. */
export const irregularEnglish: ReadonlyMap<string, string> = new Map(
  forms
    .trim()
    .split(/[|\n]/)
    .flatMap((row) => {
      const [word = '', ...others] = row.split(' ');
      return others.map((form): [string, string] => [form, word]);
    }),
);
