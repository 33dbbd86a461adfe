import { CarrelError } from '../base/errors.ts';
import type { CursorPlace, CursorSigner } from '../tools/signed-cursor.ts';

/** A list that can only be read from an offset, whose members come and go. */
export interface OffsetList<Member> {
  /** In the order of the list. */
  read(offset: number, limit: number): Promise<readonly Member[]>;
  idOf(member: Member): string;
}

export interface MemberPage<Member> {
  readonly members: readonly Member[];
  readonly nextCursor?: string;
}

const pageSize = 50;
/** How far members of the page before may have moved to the front, or behind, and are found at once. */
const overlap = 40;
const windowSize = overlap + pageSize + 1;
/** Where they are looked for, by windows: what was added moves them behind, what was removed to the front. */
const windows = [0, 1, 2, 3, -1, -2, -3];
/** If one is removed, or changed and thereby moved to the front, the others still tell the place. */
const marksMax = 5;

/**
 * The next page: what follows the last members of the page before, wherever they are by now. So nothing that was there all
 * along is left out or comes twice, whatever was added or removed meanwhile.
 */
export async function listInPages<Member>(
  list: OffsetList<Member>,
  cursors: CursorSigner,
  cursor: string | undefined,
): Promise<MemberPage<Member>> {
  const { offset, members } =
    cursor === undefined
      ? { offset: 0, members: await list.read(0, pageSize + 1) }
      : await behind(list, cursors.read(cursor));
  const page = members.slice(0, pageSize);
  if (members.length <= pageSize) return { members: page };
  const marks = page.slice(-marksMax).map(list.idOf);
  return { members: page, nextCursor: cursors.issue(offset + pageSize, marks) };
}

async function behind<Member>(
  list: OffsetList<Member>,
  { at, marks }: CursorPlace,
): Promise<{ offset: number; members: readonly Member[] }> {
  const starts = windows.map((window) => Math.max(0, at - overlap + window * windowSize));
  for (const start of new Set(starts)) {
    const found = await list.read(start, windowSize);
    const last = found.findLastIndex((member) => marks.includes(list.idOf(member)));
    if (last === -1) continue;
    const offset = start + last + 1;
    const members = found.slice(last + 1);
    const isWhole = members.length > pageSize || found.length < windowSize;
    return { offset, members: isWhole ? members : await list.read(offset, pageSize + 1) };
  }
  throw new CarrelError('invalid_cursor', 'The list has changed too much since. Start again without a cursor.');
}
