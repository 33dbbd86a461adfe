import { CarrelError } from '../../base/errors.ts';
import type { Rights } from '../../base/rights.ts';

export interface ScopeRights {
  readonly scope: string;
  readonly rights: Rights;
}

/** Matches the name of a scope (RFC 6749 §3.3). */
const scopeName = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Reads the rights of each scope, in the configured order. */
export function readScopes(lines: readonly string[], toolsets: readonly string[]): ScopeRights[] {
  return lines.map((line) => {
    const [scope = '', ...rest] = line.split('=');
    const name = scope.trim();
    if (!scopeName.test(name)) throw fault(line, 'must start with a scope name');
    const words = rest
      .join('=')
      .split(/\s+/)
      .filter((word) => word !== '');
    if (rest.length > 0 && words.length === 0) throw fault(line, 'must name a restriction after =');
    return { scope: name, rights: Object.assign({}, ...words.map((word) => readRight(line, word, toolsets))) };
  });
}

function readRight(line: string, word: string, toolsets: readonly string[]): Rights {
  if (word === 'read-only') return { readOnly: true };
  const [, kind, list = ''] = /^(toolsets|collections|threads):(.+)$/.exec(word) ?? [];
  const names = list.split('+');
  if (kind === undefined || names.includes(''))
    throw fault(
      line,
      `has the unknown restriction ${JSON.stringify(word)}; use read-only, toolsets:, collections: or threads:`,
    );
  const unknown = kind === 'toolsets' ? names.find((name) => !toolsets.includes(name)) : undefined;
  if (unknown !== undefined) throw fault(line, `names the unknown toolset ${JSON.stringify(unknown)}`);
  return { [kind]: kind === 'collections' ? names.map((name) => name.normalize('NFC')) : names };
}

function fault(line: string, problem: string): CarrelError {
  return new CarrelError('invalid_config', `oauth.scopes: ${JSON.stringify(line.slice(0, 100))} ${problem}.`);
}

/** Returns the rights of the first configured scope that a token has; undefined if it has none. */
export function rightsOf(scopes: readonly ScopeRights[], claim: unknown): Rights | undefined {
  // A string of names separated by spaces (RFC 9068). Some issuers send an array.
  const names = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim.map(String) : [];
  return scopes.find(({ scope }) => names.includes(scope))?.rights;
}
