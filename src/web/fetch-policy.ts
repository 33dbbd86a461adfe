import { CarrelError } from '../base/errors.ts';
import { type Address, classifyAddress, parseAddress } from './address-rules.ts';
import { canonicalHost, type Target, type TargetList } from './target-list.ts';

export type Scheme = 'http' | 'https';

/** Which URLs a fetcher may fetch. Applies to the caller's URL and to every redirect. */
export interface FetchPolicy {
  /** Default: http and https. */
  schemes?: readonly Scheme[];
  /** Allowed ports. Default: see `isWebPort`. */
  ports?: readonly number[];
  /** If not empty, only these hosts are allowed. Does not allow private addresses. */
  onlyHosts?: TargetList;
  /** Allowed although not public. Entries with a port also allow that port. Metadata addresses stay blocked. */
  allowPrivate?: TargetList;
  /** Allows loopback, RFC 1918, carrier-grade NAT and unique local addresses. Metadata addresses stay blocked. */
  allowPrivateNetworks?: boolean;
  /** Never allowed, even if another list has them: this program's own listeners, and the services it uses. */
  refused?: TargetList;
}

/** A URL that passed all checks that need no name lookup. */
export interface CheckedUrl extends Target {
  url: URL;
  scheme: Scheme;
}

/** Max characters of a URL. Longer ones are never legitimate. */
export const urlCharactersMax = 8192;

/** Checks a URL. `base` is the URL that redirected to `text`, if any. */
export function checkUrl(text: string, policy: FetchPolicy, base?: URL): CheckedUrl {
  const url = parseUrl(text, base);
  const scheme = schemeOf(url, policy);
  if (url.username !== '' || url.password !== '') {
    const message = 'The URL contains a user name or password. Leave them out: they are never sent.';
    throw new CarrelError('credentials_in_url', message);
  }
  const host = canonicalHost(url.hostname);
  if (host === undefined) throw invalidUrl('its host is not a possible name or address');
  url.hostname = host.includes(':') ? `[${host}]` : host;
  url.hash = '';
  const port = url.port === '' ? defaultPorts[scheme] : Number(url.port);
  const address = parseAddress(host);
  const target: CheckedUrl = { url, scheme, host, port, ...(address === undefined ? {} : { address }) };
  checkPort(target, policy);
  checkHost(target, policy);
  return target;
}

/** Checks the addresses of a name. Throws if any of them is forbidden, because any of them may be connected to. */
export function checkAddresses(target: Target, addresses: readonly Address[], policy: FetchPolicy): void {
  for (const address of addresses) {
    const resolved = { ...target, address };
    if (policy.refused?.matches(resolved)) throw ownService(target.host);
    if (isRestricted(policy) && !policy.onlyHosts?.matches(resolved)) throw hostNotListed(target.host);
    if (!mayReach(resolved, address, policy)) throw privateNetworkBlocked(target.host);
  }
}

const defaultPorts = { http: 80, https: 443 } as const;

function parseUrl(text: string, base: URL | undefined): URL {
  if (text.length > urlCharactersMax) throw invalidUrl(`it is longer than ${urlCharactersMax} characters`);
  const url = URL.parse(text, base?.href);
  if (url === null) throw invalidUrl('it is not an absolute URL');
  return url;
}

function schemeOf(url: URL, policy: FetchPolicy): Scheme {
  const allowed = policy.schemes ?? ['http', 'https'];
  const scheme = allowed.find((one) => url.protocol === `${one}:`);
  if (scheme !== undefined) return scheme;
  throw new CarrelError('scheme_not_allowed', `Only ${allowed.join(' and ')} URLs can be fetched here.`);
}

function checkPort(target: Target, policy: FetchPolicy): void {
  const isAllowed = policy.ports?.includes(target.port) ?? isWebPort(target.port);
  if (isAllowed || policy.allowPrivate?.matchesWithPort(target) || policy.onlyHosts?.matchesWithPort(target)) return;
  const message = `Port ${target.port} of ${target.host} is not a web port and can't be fetched. Use the site's ordinary address.`;
  throw new CarrelError('port_not_allowed', message, { data: { host: target.host, port: target.port } });
}

function checkHost(target: Target, policy: FetchPolicy): void {
  if (policy.refused?.matches(target)) throw ownService(target.host);
  const mayMatchResolved = target.address === undefined && policy.onlyHosts?.hasRanges === true;
  if (isRestricted(policy) && !policy.onlyHosts?.matches(target) && !mayMatchResolved) throw hostNotListed(target.host);
  // RFC 6761: these names mean loopback, even if a resolver returns another address.
  const isLocalhost = target.host === 'localhost' || target.host.endsWith('.localhost');
  const isAllowed =
    policy.allowPrivateNetworks === true || policy.allowPrivate?.matches(target) || policy.allowPrivate?.hasRanges;
  if (isLocalhost && !isAllowed) throw privateNetworkBlocked(target.host);
  if (target.address !== undefined) checkAddresses(target, [target.address], policy);
}

function mayReach(target: Target, address: Address, policy: FetchPolicy): boolean {
  const addressClass = classifyAddress(address);
  if (addressClass === 'public') return true;
  if (addressClass === 'metadata') return false;
  if (addressClass === 'private' && policy.allowPrivateNetworks === true) return true;
  return policy.allowPrivate?.matches(target) === true;
}

function isRestricted(policy: FetchPolicy): boolean {
  return policy.onlyHosts?.isEmpty === false;
}

function invalidUrl(fault: string): CarrelError {
  return new CarrelError('invalid_url', `The URL is not usable: ${fault}. Give one like https://example.com/page.`);
}

/** The part of a refusal's message that says that `onlyHosts` is the reason. */
export const unlistedHost = 'is not among the hosts that may be fetched here';

function hostNotListed(host: string): CarrelError {
  const message = `${host} ${unlistedHost}. The operator of this server can allow it.`;
  return new CarrelError('host_not_allowed', message, { data: { host } });
}

function ownService(host: string): CarrelError {
  const message = `${host} can't be fetched: this server never fetches from itself or from the services it uses. Fetch another page.`;
  return new CarrelError('host_not_allowed', message, { data: { host } });
}

/** Creates the error for a private address. It reveals neither the address nor whether a server listens there. */
function privateNetworkBlocked(host: string): CarrelError {
  const message = `${host} is not on the public internet, and private addresses are blocked. The operator of this server can allow it with FETCH_ALLOW_PRIVATE, unless it is a cloud metadata address.`;
  return new CarrelError('private_network_blocked', message, { data: { host } });
}

/**
 * True for the ports that are allowed by default: 80, 443, and all from 1024 except well-known ports of other services. A request
 * to a mail server, database or cluster control port could be an attack.
 */
function isWebPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && port <= 65_535 && !servicePorts.has(port));
}

const servicePorts = new Set([
  // Ports from 1024 that the Fetch standard blocks ("bad port").
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
  // Databases, caches and queues that work without a login or accept HTTP.
  1433, 1521, 3306, 5432, 5433, 5672, 5984, 6379, 6380, 6432, 7474, 7687, 8086, 9042, 9092, 9200, 9300, 11_211, 15_672,
  26_379, 27_017, 27_018, 27_019, 28_015, 33_060, 50_000, 61_616,
  // Control ports of containers, clusters and debuggers.
  2181, 2375, 2376, 2377, 2379, 2380, 4194, 4243, 4646, 5005, 6443, 8125, 8200, 8300, 8301, 8500, 8600, 9229, 10_250,
  10_255, 10_256, 50_070,
  // Remote shells and desktops, proxies.
  1080, 3128, 3389, 5900, 5901, 5985, 5986, 9050, 9051,
]);
