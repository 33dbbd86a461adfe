import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, type Random } from '../../test/fuzz/random.ts';
import type { Caller } from './caller.ts';
import type { Observation } from './history.ts';
import { createDocuments, createEntries, createNotes, type Kind, type KindName, lettersOf, nameOf } from './items.ts';

/** An entry, note or document that one client writes and all clients read. */
interface Item {
  readonly kind: KindName;
  readonly word: string;
  /** Undefined until the job that creates the document is done. */
  id: string | undefined;
  /** What `Kind.add` returned, for kinds with jobs. */
  reference: string;
  version: number;
}

/** How often each operation is chosen, out of 100. */
const weights: Readonly<Record<KindName, Readonly<Record<string, number>>>> = {
  entry: { add: 16, change: 12, get: 11, fts: 13, hybrid: 11 },
  note: { add: 6, change: 5, get: 5, list: 5 },
  document: { add: 6, search: 10 },
};

const operations = Object.entries(weights).flatMap(([kind, operationWeights]) =>
  Object.entries(operationWeights).flatMap(([operation, weight]) =>
    new Array(weight).fill({ kind: kind as KindName, operation }),
  ),
) as { kind: KindName; operation: string }[];

/** Share of reads that read an item of any client. The others read the client's own items. */
const anyClientShare = 0.3;
/** Share of writes that are sent twice with the same idempotency key. */
const repeatedShare = 0.2;

/** Makes the calls of all clients, and records their answers. */
export function createRun(caller: Caller) {
  const history: Observation[] = [];
  const failures: string[] = [];
  const written: Record<KindName, number> = { entry: 0, note: 0, document: 0 };
  const items: Record<KindName, Item[]> = { entry: [], note: [], document: [] };
  const byClient = new Map<string, Item[]>();
  const repeats = createRandom(0, 0);
  const isRepeated = () => repeats.chance(repeatedShare);
  const kinds: Record<KindName, Kind> = {
    entry: createEntries(caller, isRepeated),
    note: createNotes(caller, isRepeated),
    document: createDocuments(caller, isRepeated),
  };

  async function record(
    item: Pick<Item, 'kind' | 'word'>,
    { kind, operation }: Pick<Observation, 'kind' | 'operation'>,
    call: () => Promise<Pick<Observation, 'ids' | 'version'>>,
  ): Promise<void> {
    const startMs = performance.now();
    const answer = await call();
    history.push({ item: nameOf(item), kind, operation, startMs, endMs: performance.now(), ...answer });
    if (kind === 'write') written[item.kind] += 1;
  }

  async function add(client: number, kind: KindName, word: string): Promise<void> {
    const { add: create, resolveId } = kinds[kind];
    const item = { kind, word };
    const ownItem: Item = { ...item, id: undefined, reference: '', version: 1 };
    if (resolveId !== undefined) ownItem.reference = await create(word, client);
    else {
      await record(item, { kind: 'write', operation: 'add' }, async () => {
        ownItem.id = await create(word, client);
        return { ids: [ownItem.id], version: 1 };
      });
    }
    items[kind].push(ownItem);
    byClient.set(`${client} ${kind}`, [...(byClient.get(`${client} ${kind}`) ?? []), ownItem]);
  }

  /** Returns true once the item is stored and can be read. */
  async function isStored(item: Item): Promise<boolean> {
    const { resolveId } = kinds[item.kind];
    if (item.id !== undefined || resolveId === undefined) return true;
    const startMs = performance.now();
    const id = await resolveId(item.reference);
    // Another client may have recorded the id meanwhile.
    if (id === undefined || item.id !== undefined) return item.id !== undefined;
    item.id = id;
    const answer = { item: nameOf(item), kind: 'write', operation: 'add', ids: [id], version: 1 } as const;
    history.push({ ...answer, startMs, endMs: performance.now() });
    written[item.kind] += 1;
    return true;
  }

  async function change(item: Item): Promise<void> {
    const { change: update } = kinds[item.kind];
    const version = item.version + 1;
    await record(item, { kind: 'write', operation: 'change' }, async () => ({
      ids: [(await update?.(idOf(item), item.word, version)) ?? ''],
      version,
    }));
    item.version = version;
  }

  async function read(item: Item, readName: string): Promise<void> {
    const readItem = kinds[item.kind].reads[readName];
    if (readItem !== undefined && (await isStored(item))) {
      await record(item, { kind: 'read', operation: readName }, () => readItem(idOf(item), item.word));
    }
  }

  return {
    history,
    failures,
    written,
    async step(client: number, step: number, random: Random): Promise<void> {
      const { kind, operation } = random.pick(operations);
      const ownItems = byClient.get(`${client} ${kind}`) ?? [];
      const isWrite = operation === 'add' || operation === 'change';
      const candidates = !isWrite && random.chance(anyClientShare) ? items[kind] : ownItems;
      try {
        if (operation === 'add' || candidates.length === 0) await add(client, kind, wordOf(kind, client, step));
        else if (operation === 'change') await change(random.pick(candidates));
        else await read(random.pick(candidates), operation);
      } catch (error) {
        failures.push(String(error));
      }
    },
    /** Waits until all jobs are done, and reads each document again. */
    async finish(): Promise<void> {
      for (const item of items.document) {
        while (!(await isStored(item))) await delay(50);
        await read(item, 'search');
      }
    },
  };
}

function idOf({ id = '' }: Item): string {
  return id;
}

function wordOf(kind: KindName, client: number, step: number): string {
  return `${{ entry: 'v', note: 'w', document: 'z' }[kind]}${lettersOf(client)}q${lettersOf(step)}x`;
}
