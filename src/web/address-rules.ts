import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The class of an address, which decides whether a connection to it is allowed:
 * - `public`: ordinary unicast on the internet; the only class that is allowed by default.
 * - `private`: loopback, RFC 1918, carrier-grade NAT, unique local. An operator may allow these.
 * - `special`: everything else that IANA reserves (documentation, benchmarking, multicast, transition, …).
 * - `metadata`: addresses at which clouds serve credentials. Never allowed, with any settings.
 */
export type AddressClass = 'public' | 'private' | 'special' | 'metadata';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressBlock = [Address, number];

/**
 * Parses a canonical address literal. Converts an IPv4-mapped IPv6 address to the IPv4 address that a connection would go to.
 * Undefined for any other text. Short and octal forms are not accepted, because the URL parser has already made them canonical.
 * Zone ids are not accepted, because they name a network interface of this machine.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.includes('%') || isIP(text) === 0) return undefined;
  return ipaddr.process(withoutDots(text));
}

/** Parses `10.0.0.0/8` or `fd00::/8`; undefined for anything else. */
export function parseAddressBlock(text: string): AddressBlock | undefined {
  const [base = '', length = '', ...extra] = text.split('/');
  if (extra.length > 0 || base.includes('%') || !/^\d{1,3}$/.test(length)) return undefined;
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(base)] ?? -1;
  return Number(length) <= bits ? [ipaddr.parse(withoutDots(base)), Number(length)] : undefined;
}

export function isInBlock(address: Address, block: AddressBlock): boolean {
  return address.kind() === block[0].kind() && address.match(block);
}

export function classifyAddress(address: Address): AddressClass {
  if (isMetadataAddress(address)) return 'metadata';
  const range: string = address.range();
  if (privateRanges.has(range)) return 'private';
  // ipaddr.js treats any IPv6 address outside its ranges as unicast; only 2000::/3 is assigned.
  const isGlobal = address.kind() === 'ipv4' || (isInBlock(address, globalUnicast) && !isIsatap(address));
  return range === 'unicast' && isGlobal ? 'public' : 'special';
}

function isMetadataAddress(address: Address): boolean {
  return [address, ...embeddedAddresses(address)].some((one) => metadataBlocks.some((block) => isInBlock(one, block)));
}

const privateRanges = new Set<string>(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal']);
const globalUnicast = block('2000::/3');

/** All link-local addresses, where most clouds serve metadata, and metadata addresses in other ranges. */
const metadataBlocks = [
  '169.254.0.0/16',
  'fe80::/10',
  '168.63.129.16/32', // Azure's wire server: a public address that every Azure machine routes to its host
  '100.100.100.200/32', // Alibaba
  '192.0.0.192/32', // Oracle
  'fd00:ec2::/32', // Amazon: metadata, container credentials, time, names
  'fd20:ce::254/128', // Google
  'fd00:42::42/128', // Scaleway
].map(block);

/** IPv6 ranges that embed an IPv4 address, and its bit offset. Teredo inverts the client's bits. */
const embeddingRanges: { block: AddressBlock; offset: number; inverted?: true }[] = [
  { block: block('::/96'), offset: 96 }, // IPv4-compatible, RFC 4291
  { block: block('::ffff:0:0:0/96'), offset: 96 }, // IPv4-translated, RFC 2765
  { block: block('64:ff9b::/96'), offset: 96 }, // NAT64, RFC 6052
  { block: block('64:ff9b:1::/48'), offset: 96 }, // local NAT64, RFC 8215
  { block: block('2002::/16'), offset: 16 }, // 6to4
  { block: block('2001::/32'), offset: 96, inverted: true }, // Teredo's client
  { block: block('2001::/32'), offset: 32 }, // Teredo's server
];

function embeddedAddresses(address: Address): ipaddr.IPv4[] {
  if (!(address instanceof ipaddr.IPv6)) return [];
  const bytes = address.toByteArray();
  const embedded = embeddingRanges
    .filter(({ block }) => isInBlock(address, block))
    .map(({ offset, inverted }) => ipv4At(bytes, offset / 8, inverted ? 0xff : 0));
  return isIsatap(address) ? [...embedded, ipv4At(bytes, 12, 0)] : embedded;
}

function ipv4At(bytes: number[], start: number, mask: number): ipaddr.IPv4 {
  return new ipaddr.IPv4(bytes.slice(start, start + 4).map((byte) => byte ^ mask));
}

/** Detects ISATAP (RFC 5214). It can use any prefix; its interface identifier is `[02]00:5efe:<IPv4>`. */
function isIsatap(address: Address): boolean {
  if (!(address instanceof ipaddr.IPv6)) return false;
  const [, , , , fourth = 0, fifth = 0] = address.parts;
  return (fourth & 0xfdff) === 0 && fifth === 0x5efe;
}

/** Rewrites `::8.8.8.8`, as some resolvers print it, to `::808:808`. ipaddr.js would read it as `::ffff:8.8.8.8`. */
function withoutDots(literal: string): string {
  return isIP(literal) === 6 ? new URL(`http://[${literal}]/`).hostname.slice(1, -1) : literal;
}

/** Parses a constant of this file. Skips the checks of `parseAddressBlock`, which would slow down the start. */
function block(text: string): AddressBlock {
  return ipaddr.parseCIDR(text);
}
