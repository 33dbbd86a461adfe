import { setTimeout as delay } from 'node:timers/promises';
import type { ProgramUnderTest } from './program-under-test.ts';

/** Records acknowledged writes, and checks that they are still stored. */
export interface Ledger {
  /** Writes an entry (even `number`) or a note (odd), and records the outcome. */
  write(program: ProgramUnderTest, number: number): Promise<void>;
  /** Checks everything that was acknowledged since the last check, and a sample of older writes. */
  verify(program: ProgramUnderTest): Promise<void>;
  readonly counts: { acknowledged: number; unknown: number; verified: number };
  readonly refusals: Record<string, number>;
  /** Lost writes and refusals without a reason. */
  readonly faults: string[];
}

const kinds = {
  entry: { tool: 'store_context', idOf: (value: Answer) => value['context_id'] },
  note: { tool: 'save_note', idOf: (value: Answer) => Object(value['note'])['id'] },
} as const;

type Kind = keyof typeof kinds;
type Answer = Record<string, unknown>;

/** Client retry delay while the program is down. */
const retryDelayMs = 50;

const recheckedMax = 200;
const attemptsMax = 20;
const progressEvery = 10_000;

export function createLedger(): Ledger {
  const unchecked: Record<Kind, unknown[]> = { entry: [], note: [] };
  const checked: Record<Kind, unknown[]> = { entry: [], note: [] };
  const counts = { acknowledged: 0, unknown: 0, verified: 0 };
  const refusals: Record<string, number> = {};
  const faults: string[] = [];
  const argumentsOf = (kind: Kind, text: string) =>
    kind === 'entry'
      ? { thread_id: 'soak', source: 'user', text, tags: ['soak'] }
      : { title: text.slice(0, 40), content: text, tags: ['soak'] };

  /** Returns the ids that are not stored. */
  async function findMissing(program: ProgramUnderTest, kind: Kind, ids: readonly unknown[]): Promise<unknown[]> {
    for (let attempt = 1; ; attempt += 1) {
      const { value, code } =
        kind === 'entry'
          ? await program.call('get_context_by_ids', { context_ids: ids })
          : await program.call('get_note', { id: ids[0] });
      if (value !== undefined) {
        const found = new Set(kind === 'note' ? ids : (value['result'] as Answer[]).map(({ id }) => id));
        return ids.filter((id) => !found.has(id));
      }
      if (code !== undefined && /not_found/.test(code)) return [...ids];
      if (attempt >= attemptsMax) throw new Error(`${kind} ${ids[0]} could not be read: ${code ?? 'no answer'}`);
      await delay(retryDelayMs);
    }
  }

  return {
    counts,
    refusals,
    faults,
    async write(program, number) {
      const kind: Kind = number % 2 === 0 ? 'entry' : 'note';
      const text = `soaked text ${number} ${'padding '.repeat((number * 37) % 300)}`;
      const { value, code } = await program.call(kinds[kind].tool, argumentsOf(kind, text));
      const id = value && kinds[kind].idOf(value);
      if (id !== undefined) {
        unchecked[kind].push(id);
        counts.acknowledged += 1;
      } else if (code === undefined) {
        counts.unknown += 1;
        await delay(retryDelayMs);
      } else refusals[code] = (refusals[code] ?? 0) + 1;
      if (code === 'internal' || (value !== undefined && id === undefined))
        faults.push(`write ${number}: ${code ?? JSON.stringify(value).slice(0, 200)}`);
    },
    async verify(program) {
      for (const kind of ['entry', 'note'] as const) {
        const recent = unchecked[kind].splice(0);
        const step = Math.max(1, Math.floor(checked[kind].length / recheckedMax));
        const sample = checked[kind].filter((_, at) => at % step === 0);
        const pending = [...recent, ...sample];
        checked[kind].push(...recent);
        const size = kind === 'entry' ? 50 : 1;
        const checkBatches = async (): Promise<void> => {
          for (let ids = pending.splice(0, size); ids.length > 0; ids = pending.splice(0, size)) {
            for (const id of await findMissing(program, kind, ids))
              faults.push(`${kind} ${id} was acknowledged but is missing`);
            counts.verified += ids.length;
            if (pending.length >= progressEvery && pending.length % progressEvery < size)
              process.stderr.write(`${kind}: ${pending.length} left to check\n`);
          }
        };
        await Promise.all([checkBatches(), checkBatches(), checkBatches(), checkBatches()]);
      }
    },
  };
}
