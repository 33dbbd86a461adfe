import { publicIpv4 } from './addresses.ts';
import { type AttackPlan, nameOf, urlsOf } from './attack-plan.ts';
import { servicePorts } from './internet.ts';

const statuses = [301, 302, 303, 307, 308];

const privateLocations = urlsOf([
  '127.0.0.1',
  '10.0.0.5',
  '::1',
  '::ffff:10.0.0.5',
  '2130706433',
  'localhost',
  nameOf('to', '10.0.0.5'),
  nameOf('to', '127.0.0.1'),
  nameOf('to', '::1'),
  nameOf('mixed0', '10.0.0.5'),
]);
const metadataLocations = urlsOf(['169.254.169.254', 'fd00:ec2::254', '0xa9fea9fe', nameOf('meta', '169.254.169.254')]);

/** T071, T072: a public site that redirects. The names come from name-cases.ts. */
export function planRedirects({ reach, refuse, refuseMetadata, fail, redirect, site }: AttackPlan): void {
  for (const status of statuses) {
    const to = (location: string): string => redirect(location, `&status=${status}`);
    reach('public redirects', ['/', `//${publicIpv4}/`, `https://${site}/`].map(to));
    refuse('redirects', privateLocations.map(to));
    refuseMetadata('redirects', metadataLocations.map(to));
  }
  for (const hops of [2, 3, 4, 5]) {
    const to = (location: string): string => redirect(location, `&hops=${hops}`);
    reach('public chains', [to('/')]);
    refuse('chains', privateLocations.map(to));
    refuseMetadata('chains', metadataLocations.map(to));
  }
  fail(
    'long chains',
    [6, 7, 20].map((hops) => redirect('/', `&hops=${hops}`)),
  );
  fail(
    'long chains',
    metadataLocations.map((location) => redirect(location, '&hops=6')),
  );
  refuse(
    'mixed chains',
    privateLocations.map((location) => redirect(redirect(location, '&status=307'), '&status=301')),
  );
  refuse(
    'redirects over TLS',
    privateLocations.map((location) => redirect(location).replace('http:', 'https:')),
  );

  const spellings = [
    '//127.0.0.1/',
    '\\\\127.0.0.1/',
    '/\\127.0.0.1/',
    '\t//127.0.0.1/',
    '//user@127.0.0.1/',
    '//127.0.0.1:22/',
  ];
  const moreSpellings = [
    'http:\\\\127.0.0.1\\',
    'HTTP://127.0.0.1',
    'http:////127.0.0.1',
    '//127。0。0。1/',
    '//①②⑦.⓪.⓪.①/',
    '//localhost./',
  ];
  refuse(
    'redirect spellings',
    [...spellings, ...moreSpellings].map((location) => redirect(location)),
  );
  const schemes = [
    'file:///etc/passwd',
    'ftp://10.0.0.5/',
    'gopher://127.0.0.1:6379/_x',
    'data:,x',
    'javascript:1',
    'ws://127.0.0.1/',
  ];
  refuse(
    'redirect schemes',
    schemes.map((location) => redirect(location)),
  );
  refuse(
    'redirect ports',
    servicePorts.map((port) => redirect(`http://${site}:${port}/`)),
  );
  fail(
    'redirects to nothing',
    ['http://', 'http://[', 'http://a..b/', 'http://host:99999/'].map((location) => redirect(location)),
  );
}
