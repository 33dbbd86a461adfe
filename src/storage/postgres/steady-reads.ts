import type { Row } from '../rows.ts';

/** What statements told lately, for transactions that go on with it while they ask again; see Statements. Of few statements. */
export interface SteadyReads {
  /** Undefined if it is not known, or has changed between the last two times. */
  last(statement: string): Told | undefined;
  tell(statement: string, rows: Row[]): Told;
}

export interface Told {
  readonly rows: Row[];
  /** The same for the same rows. */
  readonly stamp: string;
}

export function createSteadyReads(): SteadyReads {
  const kept = new Map<string, Told & { readonly isSteady: boolean }>();
  return {
    last(statement) {
      const known = kept.get(statement);
      return known?.isSteady ? known : undefined;
    },
    tell(statement, rows) {
      const stamp = JSON.stringify(rows);
      const told = { rows, stamp, isSteady: kept.get(statement)?.stamp === stamp };
      kept.set(statement, told);
      return told;
    },
  };
}

/** The steady reads of one transaction. */
export interface Assumptions {
  /** What the statement tells, or told the last time. */
  take(statement: string, answer: Promise<Row[]>): Promise<Row[]>;
  /** Whether everything that was assumed is so, once that is known. If not, nothing is assumed from then on. */
  hold(): Promise<boolean>;
}

export function createAssumptions(steady: SteadyReads): Assumptions {
  const assumed: Promise<boolean>[] = [];
  let isOver = false;
  return {
    async take(statement, answer) {
      const known = isOver ? undefined : steady.last(statement);
      const telling = answer.then((rows) => steady.tell(statement, rows));
      if (known === undefined) return (await telling).rows;
      const isSo = telling.then(({ stamp }) => stamp === known.stamp);
      isSo.catch(() => {});
      assumed.push(isSo);
      return known.rows;
    },
    async hold() {
      isOver ||= (await Promise.all(assumed.splice(0))).includes(false);
      return !isOver;
    },
  };
}
