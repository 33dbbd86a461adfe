import { createToken, expiryForms, hashToken, isTokenName, nameRule, readExpiry } from '../../access/token.ts';
import { toolsetNames } from '../../app/toolsets.ts';
import { CarrelError } from '../../base/errors.ts';
import type { Rights } from '../../base/rights.ts';
import type { NewToken } from '../../storage/tokens/token.ts';
import type { CommandLine } from '../command-line.ts';

/** Creates a token with the rights that the flags describe, plus the record to store. */
export function newToken(line: CommandLine, name: string, now: Date): { token: string; stored: NewToken } {
  if (!isTokenName(name)) throw usage(`The name ${nameRule}.`);
  const token = createToken();
  return {
    token,
    stored: { name, hash: hashToken(token), rights: readRights(line), expiresAt: readExpires(line, now) },
  };
}

const namesMax = 1_000;

function readRights(line: CommandLine): Rights {
  const toolsets = namesOf(line, 'toolsets');
  const unknown = toolsets?.find((each) => !toolsetNames.includes(each));
  if (unknown !== undefined) {
    throw usage(`${JSON.stringify(unknown.slice(0, 60))} is not a toolset. Choose from ${toolsetNames.join(', ')}.`);
  }
  if (toolsets?.every((each) => each === 'find')) {
    throw usage('find searches only the toolsets named beside it. Add some, such as find,kb,context.');
  }
  // The engine stores collections in NFC.
  const collections = namesOf(line, 'collections')?.map((name) => name.normalize('NFC'));
  const threads = namesOf(line, 'threads');
  return {
    ...(toolsets ? { toolsets } : {}),
    ...(line.flags['read-only'] === true ? { readOnly: true } : {}),
    ...(collections ? { collections } : {}),
    ...(threads ? { threads } : {}),
  };
}

/** Names separated by commas or repeated flags. Undefined if there are none, which means all. */
function namesOf({ flags, lists }: CommandLine, flag: string): string[] | undefined {
  const given = lists[flag] ?? (typeof flags[flag] === 'string' ? [flags[flag]] : undefined);
  if (given === undefined) return undefined;
  const names = given.flatMap((each) => each.split(',')).map((each) => each.trim());
  if (names.includes('')) throw usage(`--${flag} contains an empty name.`);
  if (names.length > namesMax) throw usage(`--${flag} can have at most ${namesMax} names.`);
  return [...new Set(names)];
}

function readExpires({ flags }: CommandLine, now: Date): string | undefined {
  const given = flags['expires'];
  if (typeof given !== 'string') return undefined;
  const time = readExpiry(given, now);
  if (time === undefined) throw usage(`--expires must be ${expiryForms}.`);
  if (Date.parse(time) <= now.getTime()) throw usage('--expires is in the past.');
  return time;
}

function usage(message: string): CarrelError {
  return new CarrelError('invalid_usage', message);
}
