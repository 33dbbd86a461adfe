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
  /** For each older text: the newer ones to show before it, newest first. */
  readonly newer: ReadonlyMap<number, readonly number[]>;
  /** For each replaced text: the newest one, at the end of the chain of replacements. */
  readonly replacedBy: ReadonlyMap<number, number>;
  readonly replaces: ReadonlyMap<number, number>;
}

/** Max hits compared pairwise. The same for every page, so that all pages agree. */
export const comparedMax = 50;

/** Max length of a text whose statements are compared. Longer ones state many things and replace others only explicitly. */
const unitsMax = 1_000;

/** Finds texts that replace others: explicitly, or by reporting a change to the same subject. */
export function findReplacements(stated: readonly Stated[]): Replacements {
  const texts = stated.toSorted(newestFirst).map((each) => ({ ...each, statements: statementsIn(each.text) }));
  const newer = new Map<number, number[]>();
  const [direct, replacedIds] = [new Map<number, number>(), new Map<number, number>()];
  for (const [index, { id, replaces: explicit, statements }] of texts.entries()) {
    if (explicit !== undefined && explicit !== id) {
      append(newer, explicit, id);
      if (!direct.has(explicit)) direct.set(explicit, id);
      replacedIds.set(id, explicit);
    }
    if (statements === undefined) continue;
    for (const older of texts.slice(index + 1)) {
      if (older.statements === undefined || older.id === explicit || older.replaces === id) continue;
      if (!replaces(statements, older.statements)) continue;
      append(newer, older.id, id);
      if (!direct.has(older.id)) direct.set(older.id, id);
      if (!replacedIds.has(id)) replacedIds.set(id, older.id);
    }
  }
  return {
    newer,
    replaces: replacedIds,
    replacedBy: new Map([...direct.keys()].map((id) => [id, lastOf(id, direct)])),
  };
}

function statementsIn(text: string): Statements | undefined {
  return text.length > unitsMax ? undefined : statementsOf(text);
}

function newestFirst(left: Stated, right: Stated): number {
  return left.time === right.time ? right.id - left.id : left.time < right.time ? 1 : -1;
}

function append(lists: Map<number, number[]>, key: number, value: number): void {
  lists.set(key, [...(lists.get(key) ?? []), value]);
}

/** Returns the end of a chain of replacements. Follows a cycle once. */
function lastOf(id: number, direct: ReadonlyMap<number, number>): number {
  const seen = new Set([id]);
  let last = id;
  for (let next = direct.get(id); next !== undefined && !seen.has(next); next = direct.get(next)) {
    seen.add(next);
    last = next;
  }
  return last;
}

/** Moves newer hits right before those they replace. `hitToInsert` returns the hit to insert, or undefined for none. */
export function newerFirst<Hit>(
  hits: readonly Hit[],
  idOf: (hit: Hit) => number,
  newer: Replacements['newer'],
  hitToInsert: (newer: Hit | undefined, older: Hit, id: number) => Hit | undefined,
): Hit[] {
  const byId = new Map(hits.map((hit) => [idOf(hit), hit]));
  const added = new Set<number>();
  const ordered: Hit[] = [];
  const add = (hit: Hit): void => {
    added.add(idOf(hit));
    for (const id of newer.get(idOf(hit)) ?? []) {
      const above = added.has(id) ? undefined : hitToInsert(byId.get(id), hit, id);
      if (above !== undefined) add(above);
    }
    ordered.push(hit);
  };
  for (const hit of hits) if (!added.has(idOf(hit))) add(hit);
  return ordered;
}
