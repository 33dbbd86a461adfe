import {
  ipv4Spellings,
  ipv6Carriers,
  metadataAddresses,
  neighbours,
  publicIpv4,
  publicIpv6,
  specialIpv4,
  specialIpv6,
} from './addresses.ts';
import { servicePorts } from './internet.ts';
import type { Lie } from './lying-dns.ts';

export interface Case {
  group: string;
  url: string;
  /**
   * `reached`: the public page. `refused`: by a rule. `failed`: no answer to be had.
   * `harmless`: any of them, since it depends on which question of a lying name is asked.
   */
  expected: 'reached' | 'refused' | 'failed' | 'harmless';
  /** How often it is fetched, for names that answer differently each time. */
  times: number;
  /** Leads to credentials, and is refused though all private networks be allowed. */
  isMetadata: boolean;
}

export interface Attack {
  cases: Case[];
  lies: Map<string, Lie>;
  publicAddresses: Set<string>;
}

/** Everything that is tried through each road: more than 400 ways to a private address, and the ways that must stay open. */
export function planAttack(): Attack {
  const lies = new Map<string, Lie>();
  const cases: Case[] = [];
  const add = (group: string, expected: Case['expected'], urls: readonly string[], more: Partial<Case> = {}): void => {
    for (const url of urls) {
      const isNew = !cases.some((one) => one.url === url);
      if (isNew) cases.push({ group, url, expected, times: 1, isMetadata: false, ...more });
    }
  };
  const name = (label: string, lie: Lie): string => {
    lies.set(`${label}.test`, lie);
    return `${label}.test`;
  };
  const fixed = (label: string, ...addresses: string[]): string => name(label, () => ({ addresses }));

  const site = fixed('site', publicIpv4, publicIpv6);
  const redirect = (location: string, query = ''): string =>
    `http://${site}/to?location=${encodeURIComponent(location)}${query}`;

  // What must work.
  add('public', 'reached', [
    `http://${publicIpv4}/`,
    `http://[${publicIpv6}]/`,
    `http://[::ffff:${publicIpv4}]/`,
    `http://${site}/`,
    `http://${site}:8080/`,
    `http://${site.toUpperCase()}./`,
    `https://${site}/`,
    `http://${fixed('only4', publicIpv4)}/`,
    `http://${fixed('only6', publicIpv6)}/`,
    `http://${name('alias', () => ({ alias: site, addresses: [publicIpv4] }))}/`,
    ...ipv4Spellings(publicIpv4).map((host) => `http://${host}/`),
  ]);
  add(
    'neighbours',
    'reached',
    neighbours.map((address) => `http://${bracketed(address)}/`),
  );
  for (const status of [301, 302, 303, 307, 308]) {
    add(
      'public redirects',
      'reached',
      ['/', `//${publicIpv4}/`, `https://${site}/`].map((to) => redirect(to, `&status=${status}`)),
    );
  }
  add(
    'public redirects',
    'reached',
    [2, 3, 4, 5].map((hops) => redirect('/', `&hops=${hops}`)),
  );
  add(
    'too many redirects',
    'failed',
    [6, 7, 20].map((hops) => redirect('/', `&hops=${hops}`)),
  );

  // Literals.
  const targets = ['127.0.0.1', '10.0.0.5', '192.168.1.1', '172.16.0.1'];
  for (const target of targets)
    add(
      'IPv4 spellings',
      'refused',
      ipv4Spellings(target).map((host) => `http://${host}/`),
    );
  add(
    'IPv4 spellings',
    'refused',
    ipv4Spellings('169.254.169.254').map((host) => `http://${host}/latest/meta-data/`),
    { isMetadata: true },
  );
  add('IPv4 spellings', 'refused', [
    'http://0/',
    'http://127.1/',
    'http://127.0.1/',
    'http://0x7f.1/',
    'http://0:80/',
    'http://127.0.0.1:443/',
    'https://127.0.0.1/',
  ]);
  add(
    'special IPv4',
    'refused',
    specialIpv4.map((address) => `http://${address}/`),
  );
  add(
    'special IPv6',
    'refused',
    specialIpv6.map((address) => `http://[${address}]/`),
  );
  add(
    'IPv6 spellings',
    'refused',
    ['[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0:1]', '[::0.0.0.1]', '[FD00::1]', '[fd00:0::0:1]', '[::1]:8080'].map(
      (host) => `http://${host}/`,
    ),
  );
  for (const target of ['127.0.0.1', '10.0.0.5'])
    add(
      'IPv6 carriers',
      'refused',
      ipv6Carriers(target).map((address) => `http://[${address}]/`),
    );
  add(
    'IPv6 carriers',
    'refused',
    ipv6Carriers('169.254.169.254').map((address) => `http://[${address}]/`),
    { isMetadata: true },
  );
  add(
    'metadata',
    'refused',
    metadataAddresses.map((address) => `http://${bracketed(address)}/`),
    { isMetadata: true },
  );
  add('zone ids', 'refused', [
    'http://[fe80::1%25lo]/',
    'http://[fe80::1%lo]/',
    'http://[::1%25lo]/',
    'http://[::1%251]/',
  ]);

  // Names.
  const localNames = [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'loc%61lhost',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'local\u200bhost',
    'localhost:8080',
    'a.localhost',
    'localhost.localdomain',
    'ip6-localhost',
  ];
  add(
    'local names',
    'refused',
    localNames.map((host) => `http://${host}/`),
  );
  const byName = (addresses: readonly string[], prefix: string): string[] =>
    addresses.map((address) => `http://${fixed(`${prefix}-${label(address)}`, address)}/`);
  add('names of special addresses', 'refused', byName([...specialIpv4, ...specialIpv6], 'to'));
  add('names of carriers', 'refused', byName(ipv6Carriers('10.0.0.5'), 'carrier'));
  add('names of metadata', 'refused', byName(metadataAddresses, 'meta'), { isMetadata: true });
  add('names of metadata', 'refused', byName(ipv6Carriers('169.254.169.254'), 'metacarrier'), { isMetadata: true });
  for (const metadataName of ['metadata.google.internal', 'metadata', 'instance-data']) {
    lies.set(metadataName, () => ({ addresses: ['169.254.169.254'] }));
    add('names of metadata', 'refused', [`http://${metadataName}/computeMetadata/v1/`], { isMetadata: true });
  }
  for (const bad of [
    '10.0.0.5',
    '127.0.0.1',
    '0.0.0.0',
    '::1',
    'fd00::1',
    '::ffff:10.0.0.5',
    '64:ff9b::a00:5',
    '169.254.169.254',
  ]) {
    const isMetadata = bad === '169.254.169.254';
    add(
      'mixed answers',
      'refused',
      [
        `http://${fixed(`mixed1-${label(bad)}`, publicIpv4, bad)}/`,
        `http://${fixed(`mixed2-${label(bad)}`, bad, publicIpv4)}/`,
        `http://${fixed(`mixed3-${label(bad)}`, publicIpv6, bad, publicIpv4)}/`,
        `http://${fixed(`mixed4-${label(bad)}`, ...neighbours.filter((one) => !one.includes(':')).slice(0, 20), bad)}/`,
      ],
      { isMetadata },
    );
    add(
      'aliases',
      'refused',
      [`http://${name(`alias-${label(bad)}`, () => ({ alias: 'internal.test', addresses: [bad] }))}/`],
      { isMetadata },
    );
  }
  add('no answer', 'failed', [
    'http://nowhere.test/',
    `http://${name('servfail', () => ({ code: 2 }))}/`,
    `http://${name('noaddress', () => ({}))}/`,
    `http://${name('silent', () => ({ isSilent: true }))}/`,
  ]);

  // Rebinding: public when judged, private when connected to.
  const isPrivateAt: [string, (question: number) => boolean][] = [
    ['second', (question) => question >= 1],
    ['third', (question) => question >= 2],
    ['odd', (question) => question % 2 === 1],
    ['even', (question) => question % 2 === 0],
    ['afterfour', (question) => question >= 4],
  ];
  for (const [when, isPrivate] of isPrivateAt) {
    for (const bad of ['169.254.169.254', '10.0.0.5', '127.0.0.1', '::1', 'fd00:ec2::254']) {
      const good = bad.includes(':') ? publicIpv6 : publicIpv4;
      const rebinding = (suffix: string): string =>
        name(`rebind-${when}-${label(bad)}-${suffix}`, (question) => ({
          addresses: [isPrivate(question) ? bad : good],
        }));
      add('rebinding', 'harmless', [`http://${rebinding('plain')}/`], { times: 6 });
      const host = rebinding('redirect');
      add('rebinding', 'harmless', [`http://${host}/to?location=${encodeURIComponent(`http://${host}/`)}&hops=3`], {
        times: 4,
      });
    }
  }

  // Redirects.
  const privateNames = ['to-10-0-0-5x.test', 'to-127-0-0-1x.test', 'mixed1-10-0-0-5x.test', 'to---1x.test'];
  const locations = [
    'http://127.0.0.1/',
    'http://10.0.0.5/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.5]/',
    'http://2130706433/',
    'http://localhost/',
    ...privateNames.map((host) => `http://${host}/`),
  ];
  const metadataLocations = [
    'http://169.254.169.254/',
    'http://[fd00:ec2::254]/',
    'http://0xa9fea9fe/',
    'http://meta-169-254-169-254x.test/',
  ];
  for (const status of [301, 302, 303, 307, 308]) {
    add(
      'redirects',
      'refused',
      locations.map((to) => redirect(to, `&status=${status}`)),
    );
    add(
      'redirects',
      'refused',
      metadataLocations.map((to) => redirect(to, `&status=${status}`)),
      { isMetadata: true },
    );
  }
  for (const hops of [2, 3, 4, 5]) {
    add(
      'redirect chains',
      'refused',
      locations.slice(0, 4).map((to) => redirect(to, `&hops=${hops}`)),
    );
    add(
      'redirect chains',
      'refused',
      metadataLocations.map((to) => redirect(to, `&hops=${hops}`)),
      { isMetadata: true },
    );
  }
  add(
    'redirect chains',
    'failed',
    metadataLocations.map((to) => redirect(to, '&hops=6')),
    { isMetadata: true },
  );
  add(
    'redirect chains',
    'refused',
    locations.slice(0, 3).map((to) => redirect(redirect(to), '&status=301')),
  );
  add(
    'redirect spellings',
    'refused',
    [
      '//127.0.0.1/',
      '\\\\127.0.0.1/',
      '/\\127.0.0.1/',
      '\t//127.0.0.1/',
      '//user@127.0.0.1/',
      '//127.0.0.1:22/',
      'http:\\\\127.0.0.1\\',
      'HTTP://127.0.0.1',
      'http:////127.0.0.1',
      '//127。0。0。1/',
      '//①②⑦.⓪.⓪.①/',
      '//localhost./',
    ].map((to) => redirect(to)),
  );
  add(
    'redirect schemes',
    'refused',
    [
      'file:///etc/passwd',
      'ftp://10.0.0.5/',
      'gopher://127.0.0.1:6379/_x',
      'data:text/plain,x',
      'javascript:1',
      'ws://127.0.0.1/',
    ].map((to) => redirect(to)),
  );
  add(
    'redirect ports',
    'refused',
    servicePorts.map((port) => redirect(`http://${site}:${port}/`)),
  );
  add(
    'redirects to nothing',
    'failed',
    ['http://', 'http://[', 'http://a..b/', 'http://host:99999/'].map((to) => redirect(to)),
  );

  // What is wrong with the URL itself.
  add(
    'ports',
    'refused',
    [...servicePorts, 0, 1, 65536].map((port) => `http://${site}:${port}/`),
  );
  add(
    'ports',
    'refused',
    servicePorts.map((port) => `http://127.0.0.1:${port}/`),
  );
  add('user names', 'refused', [
    `http://user:pass@${site}/`,
    `http://user@${site}/`,
    `http://${site}@127.0.0.1/`,
    `http://${site}:80@127.0.0.1/`,
    `http://127.0.0.1@${site}/`,
    'http://a:b@169.254.169.254/',
    `http://${site}%40127.0.0.1/`,
    `http://${site}#@127.0.0.1/`.replace('#', '%23'),
  ]);
  add('parser quarrels', 'refused', [
    `http://127.0.0.1\\@${site}/`,
    `http://127.0.0.1#@${site}/`,
    `http://127.0.0.1?@${site}/`,
    `http://127.0.0.1;@${site}/`,
    `http://127.0.0.1 @${site}/`,
    `http:127.0.0.1/`,
    'http:/127.0.0.1/',
    'http:\\\\127.0.0.1/',
    'http:///127.0.0.1/',
    'ht\ntp://127.0.0.1/',
    ' http://127.0.0.1/ ',
    'http://127.0.0.1\t/',
    `http://${site}\u0000.127.0.0.1/`,
    'http://[::1]@10.0.0.5/',
    'http://[::1',
    'http://1.2.3.4.5/',
    'http://127.0.0.1../',
  ]);
  add('schemes', 'refused', [
    'file:///etc/passwd',
    'file://127.0.0.1/etc/passwd',
    'ftp://10.0.0.5/',
    'gopher://127.0.0.1:6379/_x',
    'dict://127.0.0.1:11211/x',
    'data:text/plain,x',
    `blob:http://${site}/1`,
    'javascript:1',
    `jar:http://${site}/a!/b`,
    `ws://${site}/`,
    `wss://${site}/`,
    `//${site}/`,
    'ldap://127.0.0.1/',
    'tftp://127.0.0.1/',
    'unix:/var/run/docker.sock',
    `view-source:http://${site}/`,
    site,
    '',
  ]);

  return { cases, lies, publicAddresses: new Set([publicIpv4, publicIpv6, ...neighbours]) };
}

function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

/** An address as the end of a DNS label, where a hyphen may not stand last. */
function label(address: string): string {
  return `${address.replace(/[.:]/g, '-').toLowerCase()}x`;
}
