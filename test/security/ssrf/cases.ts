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
import { type AttackPlan, createAttackPlan, urlsOf } from './attack-plan.ts';
import { servicePorts } from './internet.ts';
import { planNames } from './name-cases.ts';
import { planRedirects } from './redirect-cases.ts';

/** All cases for each road: attempts to reach a private address, and public addresses that must stay reachable. */
export function planAttack(): AttackPlan {
  const plan = createAttackPlan();
  planPublic(plan);
  planLiterals(plan);
  planNames(plan);
  planRedirects(plan);
  planMalformed(plan);
  return plan;
}

function planPublic({ reach, name, site }: AttackPlan): void {
  const only4 = name('only4.test', () => ({ addresses: [publicIpv4] }));
  const only6 = name('only6.test', () => ({ addresses: [publicIpv6] }));
  const alias = name('alias.test', () => ({ alias: site, addresses: [publicIpv4] }));
  const hosts = [publicIpv4, publicIpv6, `::ffff:${publicIpv4}`, site, `${site.toUpperCase()}.`, only4, only6, alias];
  reach('public', [...urlsOf(hosts), ...urlsOf([`${site}:8080`]), `https://${site}/`]);
  reach('public spellings', urlsOf(ipv4Spellings(publicIpv4)));
  reach('neighbours', urlsOf(neighbours));
}

function planLiterals({ refuse, refuseMetadata }: AttackPlan): void {
  for (const target of ['127.0.0.1', '10.0.0.5', '192.168.1.1', '172.16.0.1']) {
    refuse('IPv4 spellings', urlsOf(ipv4Spellings(target)));
  }
  refuseMetadata('IPv4 spellings', urlsOf(ipv4Spellings('169.254.169.254'), '/latest/meta-data/'));
  refuse('IPv4 spellings', urlsOf(['0', '127.1', '127.0.1', '0x7f.1', '0:80', '127.0.0.1:443', '127.0.0.1:8080']));
  refuse('IPv4 over TLS', ['https://127.0.0.1/', 'https://10.0.0.5/', 'https://169.254.169.254/']);
  refuse('special IPv4', urlsOf(specialIpv4));
  refuse('special IPv6', urlsOf(specialIpv6));
  refuse('IPv6 spellings', urlsOf(['0:0:0:0:0:0:0:1', '0000::0001', '::0:1', '::0.0.0.1', 'FD00::1', 'fd00:0::0:1']));
  refuse('IPv6 spellings', ['http://[::1]:8080/', 'https://[::1]/']);
  for (const target of ['127.0.0.1', '10.0.0.5']) refuse('IPv6 carriers', urlsOf(ipv6Carriers(target)));
  refuseMetadata('IPv6 carriers', urlsOf(ipv6Carriers('169.254.169.254')));
  refuseMetadata('metadata', urlsOf(metadataAddresses));
  refuse('zone ids', urlsOf(['[fe80::1%25lo]', '[fe80::1%lo]', '[::1%25lo]', '[::1%251]']));
}

/** URLs that parsers disagree on, ports of services, and other schemes. */
function planMalformed({ refuse, site }: AttackPlan): void {
  refuse('ports', urlsOf([...servicePorts, 0, 1, 65536].map((port) => `${site}:${port}`)));
  refuse('ports', urlsOf(servicePorts.map((port) => `127.0.0.1:${port}`)));
  refuse(
    'user names',
    ['user:pass@SITE', 'user@SITE', 'SITE@127.0.0.1', 'SITE:80@127.0.0.1', '127.0.0.1@SITE', 'a:b@169.254.169.254']
      .concat(['SITE%40127.0.0.1', 'SITE%23@127.0.0.1', '[::1]@10.0.0.5'])
      .map((authority) => `http://${authority.replace('SITE', site)}/`),
  );
  refuse(
    'parser quarrels',
    ['127.0.0.1\\@SITE', '127.0.0.1#@SITE', '127.0.0.1?@SITE', '127.0.0.1;@SITE', '127.0.0.1 @SITE', '127.0.0.1\t']
      .concat(['SITE\u0000.127.0.0.1', '[::1', '1.2.3.4.5', '127.0.0.1..', 'SITE..', '.SITE', 'a*b.SITE'])
      .map((authority) => `http://${authority.replace('SITE', site)}/`),
  );
  refuse('slashes', ['http:127.0.0.1/', 'http:/127.0.0.1/', 'http:\\\\127.0.0.1/', 'http:///127.0.0.1/']);
  refuse('white space', ['ht\ntp://127.0.0.1/', ' http://127.0.0.1/ ', 'http://127.0.0.1 /']);
  const schemes = ['ftp', 'gopher', 'dict', 'ws', 'wss', 'ldap', 'tftp', 'blob:http', 'view-source:http', 'jar:http'];
  refuse(
    'schemes',
    schemes.map((scheme) => `${scheme}://127.0.0.1/`),
  );
  refuse('schemes', [
    'file:///etc/passwd',
    'file://127.0.0.1/etc/passwd',
    'data:text/plain,x',
    'javascript:1',
    'unix:/x',
  ]);
  refuse('no URL', [site, `//${site}/`, '/', '', `http://${site}/${'a'.repeat(10_000)}`]);
}
