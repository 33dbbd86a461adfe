import { currentLanguage, type Language } from '../../words/language.ts';
import type { StorageDescription } from '../contracts/storage.ts';
import { type OperationName, operationOf } from '../operations.ts';
import { numberOf, textOf } from '../statements.ts';
import { checkContent } from './check-content.ts';
import type { Database } from './database.ts';
import { createSqliteDialect } from './dialect.ts';
import { createLocalTransactions, type LocalTransactions } from './local-transactions.ts';
import { schemaVersion } from './migrate.ts';
import type { WriteHelper } from './write-helper.ts';

/** Everything that the thread of a connection can be asked for. Each call ends before the next one begins. */
export interface SqliteStores {
  readonly upkeep: Upkeep;
  readonly operations: OperationCalls;
}

/** Operations by their names. */
export interface OperationCalls {
  write(name: OperationName, request: unknown, now: string): Promise<unknown>;
  read(name: OperationName, request: unknown, now: string): Promise<unknown>;
}

export interface Upkeep {
  describe(): StorageDescription;
  check(): string[];
  /** Of the words, on this thread. */
  language(): Language;
}

export interface StoresConfig {
  readonly documentsDir?: string | undefined;
  /** Takes part of large writes. Without it all is done here. */
  readonly helper?: WriteHelper | undefined;
}

export function createStores(
  database: Database,
  { documentsDir = '', helper }: StoresConfig = {},
): { stores: SqliteStores; transactions: LocalTransactions } {
  const transactions = createLocalTransactions(database, createSqliteDialect(database, { helper, documentsDir }));
  const stores = {
    upkeep: createUpkeep(database),
    operations: createOperationCalls(transactions),
  };
  return { stores, transactions };
}

function createOperationCalls({ write, read }: LocalTransactions): OperationCalls {
  return {
    // The other side has named the operation that this is a request for; a message cannot carry that proof.
    write: (name, request, now) => write(operationOf(name), request as never, now),
    read: (name, request, now) => read(operationOf(name), request as never, now),
  };
}

function createUpkeep(database: Database): Upkeep {
  return {
    describe() {
      const pages = numberOf(database.get('PRAGMA page_count') ?? {}, 'page_count');
      const pageBytes = numberOf(database.get('PRAGMA page_size') ?? {}, 'page_size');
      return {
        backend: 'sqlite',
        version: textOf(database.get('SELECT sqlite_version() AS version') ?? {}, 'version'),
        schema: schemaVersion(database),
        bytes: pages * pageBytes,
      };
    },
    language: currentLanguage,
    check: () => checkContent(database),
  };
}
