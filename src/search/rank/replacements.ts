import { replaces, type Statements, statementsOf } from './statement.ts';

/** A text that may replace others. */
export interface Stated {
  readonly id: number;
  readonly text: string;
  /** ISO 8601. At equal times, the higher id is newer. */
  readonly time: string;
  /** The text that it explicitly replaces. */
  readonly replaces?: number | undefined;
}

export interface Replacements {
  /** Hits to show before an older one, newest first. */
  readonly newer: ReadonlyMap<number, readonly number[]>;
  /** The newest text that replaces each one, at the end of the chain. */
  readonly replacedBy: ReadonlyMap<number, number>;
  readonly replaces: ReadonlyMap<number, number>;
}

/** Max hits compared with one another, the same for every page. */
export const comparedMax = 50;

/** Longer texts state many things and replace others only explicitly. */
const unitsMax = 1_000;

/** Which texts replace others: explicitly, or by reporting a change of the same subject. */
export function findReplacements(stated: readonly Stated[]): Replacements {
  const texts = stated.toSorted(newestFirst).map((each) => ({ ...each, statements: statementsIn(each.text) }));
  const newer = new Map<number, number[]>();
  const [direct, former] = [new Map<number, number>(), new Map<number, number>()];
  for (const [place, { id, replaces: outright, statements }] of texts.entries()) {
    if (outright !== undefined && outright !== id) {
      add(newer, outright, id);
      if (!direct.has(outright)) direct.set(outright, id);
      former.set(id, outright);
    }
    if (statements === undefined) continue;
    for (const older of texts.slice(place + 1)) {
      if (older.statements === undefined || older.id === outright || older.replaces === id) continue;
      if (!replaces(statements, older.statements)) continue;
      add(newer, older.id, id);
      if (!direct.has(older.id)) direct.set(older.id, id);
      if (!former.has(id)) former.set(id, older.id);
    }
  }
  return { newer, replaces: former, replacedBy: new Map([...direct.keys()].map((id) => [id, lastOf(id, direct)])) };
}

function statementsIn(text: string): Statements | undefined {
  return text.length > unitsMax ? undefined : statementsOf(text);
}

function newestFirst(left: Stated, right: Stated): number {
  return left.time === right.time ? right.id - left.id : left.time < right.time ? 1 : -1;
}

function add(lists: Map<number, number[]>, key: number, value: number): void {
  lists.set(key, [...(lists.get(key) ?? []), value]);
}

/** The end of a chain. A cycle is followed once. */
function lastOf(id: number, direct: ReadonlyMap<number, number>): number {
  const seen = new Set([id]);
  let last = id;
  for (let next = direct.get(id); next !== undefined && !seen.has(next); next = direct.get(next)) {
    seen.add(next);
    last = next;
  }
  return last;
}

/** Moves newer hits right before those they replace. `lifted` returns the hit to insert there; undefined inserts none. */
export function newerFirst<Hit>(
  hits: readonly Hit[],
  idOf: (hit: Hit) => number,
  newer: Replacements['newer'],
  lifted: (newer: Hit | undefined, older: Hit, id: number) => Hit | undefined,
): Hit[] {
  const byId = new Map(hits.map((hit) => [idOf(hit), hit]));
  const placed = new Set<number>();
  const ordered: Hit[] = [];
  const place = (hit: Hit): void => {
    placed.add(idOf(hit));
    for (const id of newer.get(idOf(hit)) ?? []) {
      const above = placed.has(id) ? undefined : lifted(byId.get(id), hit, id);
      if (above !== undefined) place(above);
    }
    ordered.push(hit);
  };
  for (const hit of hits) if (!placed.has(idOf(hit))) place(hit);
  return ordered;
}
