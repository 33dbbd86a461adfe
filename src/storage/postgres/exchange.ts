import { type FieldDef, type PoolClient, Query, types } from 'pg';
import { prepareValue } from 'pg/lib/utils.js';
import type { Row } from '../rows.ts';

/** One statement; without a name it is parsed each time. */
export interface Asked {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Statements that are asked for without waiting for each other go out as one message and come back as one. Each with an end
 * of its own, as `pg` sends them, they would have both sides woken for each answer, which costs more than a short statement.
 * If one fails, those behind it are not done and fail with the same error.
 */
export interface Exchange {
  ask(asked: Asked): Promise<Row[]>;
  /** Sends what was asked for so far, before anything else that is to come behind it. */
  flush(): void;
}

/** `answerMs`: a server that says nothing for so long is given up. */
export function createExchange(client: PoolClient, answerMs: number): Exchange {
  let gathered: Member[] = [];
  const flush = () => {
    const members = gathered;
    gathered = [];
    if (members.length > 0) client.query(batchOf(client, members, answerMs));
  };
  return {
    async ask({ values, ...asked }) {
      const written = values.map(prepareValue);
      const { promise, resolve, reject } = Promise.withResolvers<Row[]>();
      if (gathered.length === 0) process.nextTick(flush);
      gathered.push({ ...asked, values: written, rows: [], fault: undefined, resolve, reject });
      return promise;
    },
    flush,
  };
}

interface Member extends Asked {
  /** As they are sent. */
  readonly values: readonly (string | Buffer | null)[];
  readonly rows: Row[];
  /** Of a row that cannot be read. */
  fault: unknown;
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: unknown) => void;
}

/** What `pg` tells a query in its queue, and keeps of it. */
interface Batch extends Query {
  name?: string | undefined;
  text: string | undefined;
  query_timeout: number;
  /** At the end, with null, or with what went wrong. */
  callback: (error: unknown) => void;
  handleRowDescription(message: { readonly fields: readonly FieldDef[] }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(): void;
  handleEmptyQuery(): void;
  handleReadyForQuery(): void;
  handleError(error: unknown): void;
}

/** How the columns of a statement are read. */
interface Column {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

/** The part of a connection that its types leave out, or ask more for. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void; destroy(): void };
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: { text: string; name: string | undefined }): void;
  bind(message: { statement: string | undefined; values: Member['values'] }): void;
  describe(message: { type: 'P'; name: '' }): void;
  execute(message: { portal: '' }): void;
  sync(): void;
}

/**
 * Of statements that a connection keeps: the server refuses one whose columns have changed since it was parsed. Behind a pooler another
 * server may have parsed it anew.
 */
const columnsKept = new WeakMap<object, Map<string, readonly Column[]>>();

function keptColumns(client: PoolClient): Map<string, readonly Column[]> {
  const kept = columnsKept.get(client) ?? new Map<string, readonly Column[]>();
  columnsKept.set(client, kept);
  return kept;
}

function batchOf(client: PoolClient, members: readonly Member[], answerMs: number): Query {
  const wire = wireOf(client);
  const kept = keptColumns(client);
  let at = 0;
  let columns: readonly Column[] = [];
  const begin = () => {
    const member = members[at];
    // As if it was the only one: `pg` notes by its name what the server has parsed.
    [batch.name, batch.text] = [member?.name, member?.text];
    columns = (member?.name === undefined ? undefined : kept.get(member.name)) ?? [];
  };
  const complete = () => {
    const member = members[at];
    at += 1;
    if (member?.fault === undefined) member?.resolve(member.rows);
    else member.reject(member.fault);
    begin();
  };
  const end = (error: unknown) => {
    for (const { name, reject } of members.slice(at)) {
      if (name !== undefined) delete wire.submittedNamedStatements[name];
      reject(error);
    }
    at = members.length;
  };
  const batch: Batch = Object.assign(new Query(''), {
    ...{ name: undefined, text: undefined, query_timeout: answerMs, callback: end },
    submit: () => submit(wire, members, kept),
    handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }) {
      columns = fields.map(({ name, dataTypeID }) => ({ name, read: types.getTypeParser(dataTypeID, 'text') }));
      if (batch.name !== undefined) kept.set(batch.name, columns);
    },
    handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }) {
      const member = members[at];
      if (member === undefined) return;
      try {
        member.rows.push(rowOf(columns, fields));
      } catch (error) {
        member.fault ??= error;
      }
    },
    handleCommandComplete: complete,
    handleEmptyQuery: complete,
    handleReadyForQuery: () => batch.callback(null),
    handleError: (error: unknown) => batch.callback(error),
  });
  begin();
  return batch;
}

function rowOf(columns: readonly Column[], fields: readonly (string | null)[]): Row {
  if (fields.length !== columns.length) throw changedColumns();
  const row: Record<string, unknown> = {};
  for (const [place, { name, read }] of columns.entries()) {
    const text = fields[place] ?? null;
    row[name] = text === null ? null : read(text);
  }
  return row;
}

/** What the server says itself where it knows; see `StatementNames`. */
function changedColumns(): Error {
  return Object.assign(new Error('cached plan must not change result type'), { code: '0A000' });
}

function wireOf(client: PoolClient): Wire {
  return (client as unknown as { connection: Wire }).connection;
}

/** What went wrong, if anything did. */
function submit(wire: Wire, members: readonly Member[], kept: ReadonlyMap<string, unknown>): unknown {
  wire.stream.cork();
  try {
    for (const member of members) send(wire, member, kept);
    wire.sync();
    return null;
  } catch (error) {
    // Some of it is sent.
    wire.stream.destroy();
    return error;
  } finally {
    wire.stream.uncork();
  }
}

function send(wire: Wire, { name, text, values }: Member, kept: ReadonlyMap<string, unknown>): void {
  const isParsed =
    name !== undefined && (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) !== undefined;
  if (!isParsed) {
    wire.parse({ text, name });
    if (name !== undefined) wire.submittedNamedStatements[name] = text;
  }
  wire.bind({ statement: name, values });
  if (name === undefined || !kept.has(name)) wire.describe({ type: 'P', name: '' });
  wire.execute({ portal: '' });
}
