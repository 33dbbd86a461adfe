/**
 * Runs inside the namespace (see namespace.ts): starts the simulated internet, runs every case on every road, one at a time
 * so that each canary hit belongs to a case, and writes a report to the named file.
 */
import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { neighbours, publicIpv4, publicIpv6 } from './addresses.ts';
import type { Case } from './attack-plan.ts';
import { planAttack } from './cases.ts';
import { type CanaryHit, type Internet, startInternet } from './internet.ts';
import { startLyingDns } from './lying-dns.ts';
import { nameServer } from './namespace.ts';
import { type Outcome, type Road, roads, unguardedRoad } from './roads.ts';

export interface RoadReport {
  road: string;
  cases: number;
  fetches: number;
  /** Connections that the kernel opened, by its count, and connections that the public site accepted. */
  connectionsOpened: number;
  publicConnections: number;
  hasOwnConnections: boolean;
  canaryHits: (CanaryHit & { url: string })[];
  surprises: { url: string; group: string; expected: Case['expected']; outcome: Outcome }[];
}

const [, , reportFile = '', certificateFile = '', keyFile = ''] = process.argv;
const { cases, lies } = planAttack();
const publicAddresses = new Set([publicIpv4, publicIpv6, ...neighbours]);
const certificate = { cert: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
const internet = await startInternet(publicAddresses, certificate);
const reports: RoadReport[] = [];
for (const road of [...roads, unguardedRoad]) {
  // A fresh server for each road restarts the lies of each name.
  const dns = await startLyingDns(nameServer, lies);
  const [site] = await lookup('only4.test', { all: true });
  assert.equal(site?.address, publicIpv4, 'names are resolved by the name server of the test');
  reports.push(await drive(road, internet));
  dns.close();
}
writeFileSync(reportFile, JSON.stringify(reports));
process.exit(0);

async function drive(road: Road, { canaryHits }: Internet): Promise<RoadReport> {
  const taken = cases.filter(road.takes);
  const before = { opened: connectionsOpened(), accepted: internet.publicConnections };
  const report: RoadReport = {
    road: road.name,
    cases: taken.length,
    fetches: 0,
    connectionsOpened: 0,
    publicConnections: 0,
    hasOwnConnections: road.hasOwnConnections,
    canaryHits: [],
    surprises: [],
  };
  const open = await road.open();
  for (const { url, group, expected, times } of taken) {
    for (let time = 0; time < times; time += 1) {
      const hitsBefore = canaryHits.length;
      const outcome = await open.fetch(url);
      // Local connections are made at once, but listeners learn of them in the next turn of the loop.
      await setImmediate();
      report.fetches += 1;
      report.canaryHits.push(...canaryHits.slice(hitsBefore).map((hit) => ({ ...hit, url })));
      if (expected !== 'harmless' && outcome.kind !== expected)
        report.surprises.push({ url, group, expected, outcome });
    }
  }
  await open.close();
  report.connectionsOpened = connectionsOpened() - before.opened;
  report.publicConnections = internet.publicConnections - before.accepted;
  return report;
}

/** The kernel's count for this namespace (RFC 2012, tcpActiveOpens): includes connections that no listener sees. */
function connectionsOpened(): number {
  const [names = '', values = ''] = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Tcp:'));
  return Number(values.split(' ')[names.split(' ').indexOf('ActiveOpens')]);
}
