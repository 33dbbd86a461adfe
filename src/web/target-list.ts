import { CarrelError } from '../base/errors.ts';
import { type Address, type AddressBlock, isInBlock, parseAddress, parseAddressBlock } from './address-rules.ts';

/** A host as the URL names it, and the address if that is a literal or has been resolved. */
export interface Target {
  host: string;
  port: number;
  address?: Address;
}

/**
 * Hosts that a rule speaks of. An entry is one of
 * - `docs.example.com` or `docs.example.com:8080`: that name, and no other; its subdomains are other names
 * - `*.example.com`: every name below it, not itself
 * - `10.1.2.3`, `10.1.2.3:8080`, `[fd00::1]:8080`, `10.0.0.0/8`: these addresses, as a literal or as what a name resolves to
 */
export interface TargetList {
  readonly isEmpty: boolean;
  /** Whether a name that is not listed could still be in the list by its address. */
  readonly hasAddresses: boolean;
  matches(target: Target): boolean;
  /** As `matches`, but only by entries that name the port. */
  matchesWithPort(target: Target): boolean;
}

export function parseTargetList(entries: readonly string[]): TargetList {
  const parsed = entries
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(parseEntry);
  return {
    isEmpty: parsed.length === 0,
    hasAddresses: parsed.some((entry) => entry.block !== undefined),
    matches: (target) => parsed.some((entry) => entryMatches(entry, target)),
    matchesWithPort: (target) => parsed.some((entry) => entry.port !== undefined && entryMatches(entry, target)),
  };
}

/**
 * The one spelling of a host that rules compare: as the URL parser yields it (lower case, punycode, canonical IPv4),
 * without brackets and without the dot that makes a name absolute. Undefined where no such host can exist in the DNS.
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
  block?: AddressBlock;
  port?: number;
}

function entryMatches(entry: Entry, { host, port, address }: Target): boolean {
  if (entry.port !== undefined && entry.port !== port) return false;
  if (entry.block !== undefined) return address !== undefined && isInBlock(address, entry.block);
  if (entry.suffix !== undefined) return host.endsWith(entry.suffix) && host.length > entry.suffix.length;
  return host === entry.name;
}

function parseEntry(text: string): Entry {
  const block = parseAddressBlock(text);
  if (block !== undefined) return { block };
  const bare = parseAddress(text);
  if (bare !== undefined) return addressEntry(bare);
  const [, wildcard, authority = '', port] = /^(\*\.)?([^*/?#@\\\s]+?)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = hostOf(authority);
  if (host === undefined || Number(port) > 65_535 || Number(port) === 0) throw invalidEntry(text);
  const portPart = port === undefined ? {} : { port: Number(port) };
  const address = parseAddress(host);
  if (address === undefined) return wildcard ? { suffix: `.${host}`, ...portPart } : { name: host, ...portPart };
  if (wildcard) throw invalidEntry(text);
  return { ...addressEntry(address), ...portPart };
}

function addressEntry(address: Address): Entry {
  return { block: [address, address.kind() === 'ipv4' ? 32 : 128] };
}

/** Through the URL parser, so that `EXAMPLE.com.` or `bücher.example` in a list means what it means in a URL. */
function hostOf(authority: string): string | undefined {
  const url = URL.parse(`http://${authority}/`);
  return url === null || url.port !== '' ? undefined : canonicalHost(url.hostname);
}

function invalidEntry(text: string): CarrelError {
  return new CarrelError(
    'invalid_config',
    `"${text}" is not a host: write a name, a name:port, *.name, an address, [an IPv6 address]:port, or a range such as 10.0.0.0/8.`,
  );
}
