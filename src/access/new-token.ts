import type { CarrelError } from '../base/errors.ts';
import type { Rights } from '../base/rights.ts';
import type { NewToken } from '../storage/tokens/token.ts';
import { createToken, expiryForms, hashToken, isTokenName, nameRule, readExpiry } from './token.ts';

/** A person's request for a new token. An absent field restricts nothing. */
export interface TokenRequest {
  readonly name: string;
  readonly toolsets?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
  readonly collections?: readonly string[] | undefined;
  readonly threads?: readonly string[] | undefined;
  /** A time or a duration; see `expiryForms`. */
  readonly expires?: string | undefined;
}

export interface TokenRules {
  readonly toolsetNames: readonly string[];
  readonly now: Date;
  /** Creates the error for a field. `problem` continues a sentence that starts with the field's name. */
  fault(field: keyof TokenRequest, problem: string): CarrelError;
}

const namesMax = 1_000;

/** Creates a token with the requested rights, and the record to store. */
export function newToken(request: TokenRequest, rules: TokenRules): { token: string; stored: NewToken } {
  const { name } = request;
  if (!isTokenName(name)) throw rules.fault('name', `${nameRule}.`);
  const token = createToken();
  return {
    token,
    stored: {
      name,
      hash: hashToken(token),
      rights: readRights(request, rules),
      expiresAt: readExpiresAt(request, rules),
    },
  };
}

function readRights(request: TokenRequest, { toolsetNames, fault }: TokenRules): Rights {
  const namesOf = (field: 'toolsets' | 'collections' | 'threads'): string[] | undefined => {
    const names = request[field]?.map((each) => each.trim());
    if (names?.includes('')) throw fault(field, 'contains an empty name.');
    if (names !== undefined && names.length > namesMax) throw fault(field, `can have at most ${namesMax} names.`);
    return names && [...new Set(names)];
  };
  const toolsets = namesOf('toolsets');
  const unknown = toolsets?.find((each) => !toolsetNames.includes(each));
  if (unknown !== undefined) {
    const quoted = JSON.stringify(unknown.slice(0, 60));
    throw fault('toolsets', `has ${quoted}, which is not a toolset. Choose from ${toolsetNames.join(', ')}.`);
  }
  if (toolsets?.every((each) => each === 'find')) {
    throw fault(
      'toolsets',
      'must include another toolset, because find only searches the others in the list. Example: find,kb,context.',
    );
  }
  // The engine stores collections in NFC.
  const collections = namesOf('collections')?.map((name) => name.normalize('NFC'));
  const threads = namesOf('threads');
  return {
    ...(toolsets ? { toolsets } : {}),
    ...(request.readOnly === true ? { readOnly: true } : {}),
    ...(collections ? { collections } : {}),
    ...(threads ? { threads } : {}),
  };
}

function readExpiresAt({ expires }: TokenRequest, { now, fault }: TokenRules): string | undefined {
  if (expires === undefined) return undefined;
  const time = readExpiry(expires, now);
  if (time === undefined) throw fault('expires', `must be ${expiryForms}.`);
  if (Date.parse(time) <= now.getTime()) throw fault('expires', 'is in the past.');
  return time;
}
