import { publicIpv4, publicIpv6 } from './addresses.ts';
import type { Lie } from './lying-dns.ts';

export interface Case {
  group: string;
  url: string;
  /**
   * `reached`: the public page. `refused`: by a rule. `failed`: no answer. `harmless`: any of these, because the answers of a
   * lying name vary.
   */
  expected: 'reached' | 'refused' | 'failed' | 'harmless';
  /** Number of fetches, for names whose answers change. */
  times: number;
  /** Reaches credentials, and must be rejected even if all private networks are allowed. */
  isMetadata: boolean;
}

export interface AttackPlan {
  readonly cases: readonly Case[];
  readonly lies: ReadonlyMap<string, Lie>;
  /** The name of the public site. */
  readonly site: string;
  reach(group: string, urls: readonly string[]): void;
  refuse(group: string, urls: readonly string[]): void;
  refuseMetadata(group: string, urls: readonly string[]): void;
  fail(group: string, urls: readonly string[]): void;
  repeat(group: string, url: string, times: number): void;
  /** Adds a name to the name server, and returns it. */
  name(name: string, lie: Lie): string;
  /** A URL of the public site that redirects to the location. `query` may set `status` and `hops`. */
  redirect(location: string, query?: string): string;
}

export function createAttackPlan(): AttackPlan {
  const cases: Case[] = [];
  const lies = new Map<string, Lie>();
  const add = (urls: readonly string[], rest: Omit<Case, 'url'>): void => {
    for (const url of urls) {
      const isNew = !cases.some((one) => one.url === url);
      if (isNew) cases.push({ url, ...rest });
    }
  };
  const adder =
    (expected: Case['expected'], isMetadata = false) =>
    (group: string, urls: readonly string[]) =>
      add(urls, { group, expected, isMetadata, times: 1 });
  const site = 'site.test';
  lies.set(site, () => ({ addresses: [publicIpv4, publicIpv6] }));
  return {
    cases,
    lies,
    site,
    reach: adder('reached'),
    refuse: adder('refused'),
    refuseMetadata: adder('refused', true),
    fail: adder('failed'),
    repeat: (group, url, times) => add([url], { group, expected: 'harmless', isMetadata: false, times }),
    name: (name, lie) => {
      lies.set(name, lie);
      return name;
    },
    redirect: (location, query = '') => `http://${site}/to?location=${encodeURIComponent(location)}${query}`,
  };
}

/** `http://<host>/` for every host; IPv6 literals get their brackets. */
export function urlsOf(hosts: readonly string[], path = '/'): string[] {
  return hosts.map(
    (host) => `http://${host.split(':').length > 2 && !host.startsWith('[') ? `[${host}]` : host}${path}`,
  );
}

/** A unique name for an address, without a label that ends in a hyphen. */
export function nameOf(prefix: string, address: string): string {
  return `${prefix}-${address.replace(/[.:]/g, '-').toLowerCase()}x.test`;
}
