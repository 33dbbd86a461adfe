/** How often something that may fail has succeeded lately. */
export interface Luck {
  /** That it is better not tried. Once in a while it is all the same: things may have changed. */
  isHopeless(): boolean;
  had(success: boolean): void;
}

/** Of the last tries, the last one counts for so much. */
const weight = 0.2;

const hopelessBelow = 0.5;
const triedEvery = 12;

const keptMax = 1000;
const lengthMax = 1000;

/** For each kind of question; those that take long to tell apart are not remembered. */
export function createLucks(): (question: unknown) => Luck | undefined {
  const kept = new Map<string, Luck>();
  return (question) => {
    const name = JSON.stringify(question);
    if (name.length > lengthMax) return undefined;
    const known = kept.get(name) ?? createLuck();
    if (kept.size >= keptMax) kept.clear();
    kept.set(name, known);
    return known;
  };
}

function createLuck(): Luck {
  let share = 1;
  let passedOver = 0;
  return {
    isHopeless() {
      if (share >= hopelessBelow) return false;
      passedOver += 1;
      return passedOver % triedEvery !== 0;
    },
    had(success) {
      share += weight * (Number(success) - share);
    },
  };
}
