import { CarrelError } from '../base/errors.ts';
import type { CursorPosition, CursorSigner } from '../tools/signed-cursor.ts';

/** A changing list that can only be read by offset. */
interface OffsetList<Member> {
  /** Returns up to `limit` members, starting at `offset`. */
  read(offset: number, limit: number): Promise<readonly Member[]>;
  idOf(member: Member): string;
}

interface MemberPage<Member> {
  readonly members: readonly Member[];
  readonly nextCursor?: string;
}

const pageSize = 50;
/** Number of members read before the cursor's position, to find members that moved a little. */
const overlap = 40;
const windowSize = overlap + pageSize + 1;
/** Windows to search for the cursor's members, relative to its position. Additions raise a member's offset, removals lower it. */
const windows = [0, 1, 2, 3, -1, -2, -3];
/** Max ids in a cursor. With several, its position is found even if one member was removed or moved. */
const marksMax = 5;

/** Returns the next page, even if members have moved. Members that stay in the list are neither skipped nor repeated. */
export async function listInPages<Member>(
  list: OffsetList<Member>,
  cursors: CursorSigner,
  cursor: string | undefined,
): Promise<MemberPage<Member>> {
  const { offset, members } =
    cursor === undefined
      ? { offset: 0, members: await list.read(0, pageSize + 1) }
      : await membersAfter(list, cursors.read(cursor));
  const page = members.slice(0, pageSize);
  if (members.length <= pageSize) return { members: page };
  const marks = page.slice(-marksMax).map(list.idOf);
  return { members: page, nextCursor: cursors.issue(offset + pageSize, marks) };
}

async function membersAfter<Member>(
  list: OffsetList<Member>,
  { at, marks }: CursorPosition,
): Promise<{ offset: number; members: readonly Member[] }> {
  const starts = windows.map((window) => Math.max(0, at - overlap + window * windowSize));
  for (const start of new Set(starts)) {
    const found = await list.read(start, windowSize);
    const last = found.findLastIndex((member) => marks.includes(list.idOf(member)));
    if (last === -1) continue;
    const offset = start + last + 1;
    const members = found.slice(last + 1);
    const isComplete = members.length > pageSize || found.length < windowSize;
    return { offset, members: isComplete ? members : await list.read(offset, pageSize + 1) };
  }
  throw new CarrelError('invalid_cursor', 'The list has changed too much. Start again without a cursor.');
}
