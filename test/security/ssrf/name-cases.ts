import {
  ipv6Carriers,
  metadataAddresses,
  neighbours,
  publicIpv4,
  publicIpv6,
  specialIpv4,
  specialIpv6,
} from './addresses.ts';
import { type AttackPlan, nameOf, urlsOf } from './attack-plan.ts';

/** Names that resolve to whatever their owner chooses. */
export function planNames(plan: AttackPlan): void {
  planLocalNames(plan);
  const named = (prefix: string, addresses: readonly string[]): string[] =>
    urlsOf(addresses.map((address) => plan.name(nameOf(prefix, address), () => ({ addresses: [address] }))));
  plan.refuse('names of special addresses', named('to', [...specialIpv4, ...specialIpv6]));
  plan.refuse('names of carriers', named('carrier', ipv6Carriers('10.0.0.5')));
  plan.refuseMetadata('names of metadata', named('meta', metadataAddresses));
  plan.refuseMetadata('names of metadata', named('metacarrier', ipv6Carriers('169.254.169.254')));
  planMixedAnswers(plan);
  planRebinding(plan);
  plan.fail(
    'no answer',
    urlsOf([
      'nowhere.test',
      plan.name('servfail.test', () => ({ code: 2 })),
      plan.name('noaddress.test', () => ({})),
      plan.name('silent.test', () => ({ isSilent: true })),
    ]),
  );
}

function planLocalNames({ refuse, refuseMetadata, name }: AttackPlan): void {
  const hosts = [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'loc%61lhost',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'local\u200bhost',
    'localhost:8080',
  ];
  refuse('local names', urlsOf([...hosts, 'a.localhost', 'localhost.localdomain', 'ip6-localhost']));
  for (const host of ['metadata.google.internal', 'metadata', 'instance-data']) {
    refuseMetadata('names of metadata', urlsOf([name(host, () => ({ addresses: ['169.254.169.254'] }))]));
  }
}

/** T068: the address used for a connection is random, so one bad address rejects the name. */
function planMixedAnswers({ refuse, refuseMetadata, name }: AttackPlan): void {
  const many = neighbours.filter((address) => !address.includes(':')).slice(0, 20);
  const bads = [
    '10.0.0.5',
    '127.0.0.1',
    '0.0.0.0',
    '::1',
    'fd00::1',
    '::ffff:10.0.0.5',
    '64:ff9b::a00:5',
    '169.254.169.254',
  ];
  for (const bad of bads) {
    const mixtures = [
      [publicIpv4, bad],
      [bad, publicIpv4],
      [publicIpv6, bad, publicIpv4],
      [...many, bad],
    ];
    const names = mixtures.map((addresses, index) => name(nameOf(`mixed${index}`, bad), () => ({ addresses })));
    const alias = name(nameOf('alias', bad), () => ({ alias: 'internal.test', addresses: [bad] }));
    (bad === '169.254.169.254' ? refuseMetadata : refuse)('mixed answers', urlsOf([...names, alias]));
  }
}

/** T069: public when checked, private when connected to, at the next hop, or at the next call. */
function planRebinding({ repeat, name }: AttackPlan): void {
  const isPrivateAt: [string, (question: number) => boolean][] = [
    ['second', (question) => question >= 1],
    ['third', (question) => question >= 2],
    ['odd', (question) => question % 2 === 1],
    ['even', (question) => question % 2 === 0],
    ['fifth', (question) => question >= 4],
  ];
  for (const [when, isPrivate] of isPrivateAt) {
    for (const bad of ['169.254.169.254', '10.0.0.5', '127.0.0.1', '::1', 'fd00:ec2::254']) {
      const good = bad.includes(':') ? publicIpv6 : publicIpv4;
      const rebinding = (prefix: string): string =>
        name(nameOf(`${prefix}-${when}`, bad), (question) => ({ addresses: [isPrivate(question) ? bad : good] }));
      repeat('rebinding', `http://${rebinding('rebind')}/`, 6);
      const host = rebinding('rebindhop');
      repeat('rebinding', `http://${host}/to?location=${encodeURIComponent(`http://${host}/`)}&hops=3`, 4);
    }
  }
}
