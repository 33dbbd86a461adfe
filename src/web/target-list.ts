import { CarrelError } from '../base/errors.ts';
import { type Address, type AddressBlock, isInBlock, parseAddress, parseAddressBlock } from './address-rules.ts';

/** A host as the URL names it, and its address, if the host is an address or was resolved. */
export interface Target {
  host: string;
  port: number;
  address?: Address;
}

/**
 * A list of hosts. Each entry is one of:
 * - `docs.example.com`, `10.1.2.3`, `[fd00::1]`: this host, as a URL names it. Does not match subdomains, nor names that resolve
 *   to the address.
 * - `*.example.com`: the subdomains of `example.com`, but not `example.com` itself.
 * - `10.0.0.0/8`, `fd00::/8`: these addresses, and names that resolve to them.
 *
 * Each entry may have a port: `docs.example.com:8080`, `[fd00::1]:8080`, `10.0.0.0/8:8080`, `[fd00::/8]:8080`.
 */
export interface TargetList {
  readonly isEmpty: boolean;
  /** True if an unlisted host could still match by its resolved address. */
  readonly hasRanges: boolean;
  matches(target: Target): boolean;
  /** Like `matches`, but considers only entries with a port. */
  matchesWithPort(target: Target): boolean;
}

export function parseTargetList(entries: readonly string[]): TargetList {
  const parsed = entries
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(parseEntry);
  return {
    isEmpty: parsed.length === 0,
    hasRanges: parsed.some((entry) => entry.range !== undefined),
    matches: (target) => parsed.some((entry) => entryMatches(entry, target)),
    matchesWithPort: (target) => parsed.some((entry) => entry.port !== undefined && entryMatches(entry, target)),
  };
}

/**
 * Returns the spelling of a host that rules compare: as the URL parser returns it (lower case, punycode, canonical IPv4), but
 * without brackets and trailing dot. Undefined if it is neither an address nor a possible DNS name.
 */
export function canonicalHost(urlHostname: string): string | undefined {
  const host = urlHostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (parseAddress(host) !== undefined) return host;
  if (host.length > 253) return undefined;
  return host.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label)) ? host : undefined;
}

interface Entry {
  name?: string;
  suffix?: string;
  range?: AddressBlock;
  port?: number;
}

function entryMatches(entry: Entry, { host, port, address }: Target): boolean {
  if (entry.port !== undefined && entry.port !== port) return false;
  if (entry.range !== undefined) return address !== undefined && isInBlock(address, entry.range);
  if (entry.suffix !== undefined) return host.endsWith(entry.suffix) && host.length > entry.suffix.length;
  return comparableHost(host) === entry.name;
}

/** Returns the same text for all spellings of an address, IPv4-mapped ones included. */
function comparableHost(host: string): string {
  return parseAddress(host)?.toString() ?? host;
}

function parseEntry(text: string): Entry {
  // In an IPv6 address without brackets, no colon starts a port.
  const isBare = parseAddress(text) !== undefined || parseAddressBlock(text) !== undefined;
  const [, hostText = '', portText] = (isBare ? [text, text] : /^(.*?)(?::(\d{1,5}))?$/.exec(text)) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  const host = parseHost(hostText);
  if (host === undefined || port === 0 || (port ?? 0) > 65_535) throw invalidEntry(text);
  return port === undefined ? host : { ...host, port };
}

function parseHost(text: string): Entry | undefined {
  const range = parseAddressBlock(text.replace(/^\[(.*)\]$/, '$1'));
  if (range !== undefined) return { range };
  const isWildcard = text.startsWith('*.');
  const name = isWildcard ? text.slice(2) : text;
  const host = hostOf(parseAddress(name)?.kind() === 'ipv6' ? `[${name}]` : name);
  if (host === undefined) return undefined;
  if (!isWildcard) return { name: comparableHost(host) };
  return parseAddress(host) === undefined ? { suffix: `.${host}` } : undefined;
}

/** Parses a host with the URL parser, so that `EXAMPLE.com.` or `bücher.example` means the same as in a URL. */
function hostOf(authority: string): string | undefined {
  if (/[*/?#@\\\s]/.test(authority)) return undefined;
  const url = URL.parse(`http://${authority}/`);
  return url === null || url.port !== '' ? undefined : canonicalHost(url.hostname);
}

function invalidEntry(text: string): CarrelError {
  const message = `"${text}" is not a host. Write a name, name:port, *.name, an address, [IPv6 address]:port, or a range like 10.0.0.0/8.`;
  return new CarrelError('invalid_config', message);
}
