import { newToken, type TokenRequest } from '../../access/new-token.ts';
import { openConfiguredStorage } from '../../app/configured-storage.ts';
import { loadRoleConfig } from '../../app/program.ts';
import { contextRole } from '../../app/roles.ts';
import { toolsetNames } from '../../app/toolsets.ts';
import type { Rights } from '../../base/rights.ts';
import type { Storage } from '../../storage/storage.ts';
import { storageSlice } from '../../storage/storage-slice.ts';
import type { StoredToken, TokenStore } from '../../storage/tokens/token.ts';
import type { CommandLine } from '../command-line.ts';
import { logOf } from '../debug-log.ts';
import { date, list, printJson, type ShownColumn, show } from '../tool-commands/show.ts';
import { quote, usageError } from '../usage-error.ts';

/** `carrel token add <name>`, `carrel token list`, `carrel token revoke <name>`. */
export async function tokenCommand(line: CommandLine): Promise<void> {
  const [action = '', name] = line.args;
  const run = actions[action];
  if (run === undefined) throw usageError(`Unknown action ${JSON.stringify(action)}. Use add, list or revoke.`);
  await run(line, name);
}

type Action = (line: CommandLine, name: string | undefined) => Promise<void>;

const actions: Readonly<Record<string, Action>> = Object.assign(Object.create(null), {
  async add(line, name) {
    if (name === undefined) throw usageError('carrel token add needs a name for the token.');
    rejectFlags(line, ['all'], 'add');
    const { token, stored } = newToken(requestOf(line, name), {
      toolsetNames,
      now: new Date(),
      fault: (field, problem) => usageError(`${field === 'name' ? 'The name' : `--${field}`} ${problem}`),
    });
    let isFirst = false;
    await withTokens(line, async (tokens) => {
      isFirst = !(await tokens.any());
      if (!(await tokens.add(stored))) {
        throw usageError(`A token named ${name} already exists. Choose another name, or revoke it first.`);
      }
    });
    const { rights, expiresAt = null } = stored;
    if (line.flags['json'] === true) printJson({ name, token, ...rightsJson(rights), expires_at: expiresAt });
    else {
      process.stdout.write(`${token}\n`);
      process.stderr.write('carrel: copy the token now. It is not stored and cannot be shown again.\n');
    }
    if (isFirst) process.stderr.write(`carrel: ${firstToken}\n`);
  },
  async list(line, name) {
    if (name !== undefined) throw usageError('carrel token list takes no name.');
    rejectFlags(line, [...scopeFlags, 'all'], 'list');
    await withTokens(line, async (tokens) => {
      const all = await tokens.list();
      show(line, { tokens: all.map(tokenJson) }, columns, all, 'no tokens');
    });
  },
  async revoke(line, name) {
    rejectFlags(line, scopeFlags, 'revoke');
    const isAll = line.flags['all'] === true;
    if ((name === undefined) !== isAll) throw usageError('carrel token revoke needs a token name or --all.');
    await withTokens(line, async (tokens) => {
      if (name === undefined) {
        const count = await tokens.forgetAll();
        process.stderr.write(`carrel: ${count} ${count === 1 ? 'token' : 'tokens'} revoked\n`);
      } else if (await tokens.revoke({ name })) {
        process.stderr.write(`carrel: ${name} revoked\n`);
      } else throw usageError(`There is no token named ${quote(name)}. Run carrel token list to see all tokens.`);
    });
  },
} satisfies Record<string, Action>);

/** Printed even with --json, because clients without a token stop working within a second. */
const firstToken =
  'from now on every HTTP client needs a token, even on this machine. carrel token revoke --all undoes that.';

function requestOf(line: CommandLine, name: string): TokenRequest {
  const expires = line.flags['expires'];
  return {
    name,
    toolsets: namesOf(line, 'toolsets'),
    readOnly: line.flags['read-only'] === true,
    collections: namesOf(line, 'collections'),
    threads: namesOf(line, 'threads'),
    expires: typeof expires === 'string' ? expires : undefined,
  };
}

/** Returns the names from a flag that may be repeated or have commas. Undefined if the flag is absent, which means all. */
function namesOf({ flags, lists }: CommandLine, flag: string): string[] | undefined {
  const values = lists[flag] ?? (typeof flags[flag] === 'string' ? [flags[flag]] : undefined);
  return values?.flatMap((each) => each.split(','));
}

const scopeFlags = ['toolsets', 'read-only', 'collections', 'threads', 'expires'];

/** Rejects flags that the action doesn't take. Ignoring them would be dangerous: the user may expect a restriction. */
function rejectFlags({ flags, lists }: CommandLine, rejected: readonly string[], action: string): void {
  const unsupported = rejected.find((name) => flags[name] !== undefined || lists[name] !== undefined);
  if (unsupported !== undefined) throw usageError(`carrel token ${action} does not take --${unsupported}.`);
}

const columns: readonly ShownColumn<StoredToken>[] = [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'ACCESS', cell: ({ rights }) => (rights.readOnly === true ? 'read' : 'all') },
  { title: 'TOOLSETS', weight: 2, lines: 3, cell: ({ rights }) => list(rights.toolsets) },
  { title: 'COLLECTIONS', weight: 2, lines: 3, cell: ({ rights }) => list(rights.collections) },
  { title: 'THREADS', weight: 2, lines: 3, cell: ({ rights }) => list(rights.threads) },
  { title: 'CREATED', cell: ({ createdAt }) => date(createdAt) },
  { title: 'EXPIRES', cell: (token) => (isExpired(token) ? 'expired' : date(token.expiresAt)) },
  { title: 'LAST USED', cell: ({ lastUsedAt }) => date(lastUsedAt) },
];

function tokenJson(token: StoredToken): object {
  const { name, rights, createdAt, expiresAt = null, lastUsedAt = null } = token;
  return {
    name,
    ...rightsJson(rights),
    created_at: createdAt,
    expires_at: expiresAt,
    expired: isExpired(token),
    last_used_at: lastUsedAt,
  };
}

/** Describes rights as JSON. Null means all. */
function rightsJson({ toolsets, readOnly = false, collections, threads }: Rights): object {
  return {
    toolsets: toolsets ?? null,
    read_only: readOnly,
    collections: collections ?? null,
    threads: threads ?? null,
  };
}

function isExpired({ expiresAt }: StoredToken): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
}

async function withTokens(line: CommandLine, work: (tokens: TokenStore) => Promise<void>): Promise<void> {
  const config = loadRoleConfig(contextRole, withoutScopeFlags(line.flags));
  const storage: Storage = await openConfiguredStorage(config.of(storageSlice), config.dataDir, logOf(line));
  try {
    await work(storage.tokens);
  } finally {
    await storage.close();
  }
}

/** Removes the flags for rights before settings are loaded, because some settings have flags with the same names. */
function withoutScopeFlags(flags: CommandLine['flags']): CommandLine['flags'] {
  return Object.fromEntries(Object.entries(flags).filter(([name]) => !scopeFlags.includes(name)));
}
