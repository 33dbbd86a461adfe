import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createCertificate } from '../../fakes/certificate.ts';
import { planAttack } from './cases.ts';
import { namespaceObstacle, runInNamespace } from './namespace.ts';
import { roads, unguardedRoad } from './roads.ts';
import type { RoadReport } from './run-roads.ts';

const obstacle = namespaceObstacle();

test('no path reaches a canary (T063–T076)', {
  skip: obstacle === undefined ? false : `not proven: ${obstacle}`,
}, async (t) => {
  const reports = attack();
  const { cases } = planAttack();
  const refusable = cases.filter((one) => one.expected === 'refused' || one.expected === 'harmless');
  assert.ok(refusable.length >= 400, `only ${refusable.length} cases`);

  for (const { name } of roads) {
    await t.test(name, (sub) => {
      const report = reports.find((one) => one.road === name);
      assert.ok(report);
      assert.deepEqual(report.canaryHits, []);
      assert.deepEqual(report.surprises, []);
      if (!report.hasOwnConnections) {
        assert.equal(report.connectionsOpened, report.publicConnections, 'connections by the count of the kernel');
      }
      sub.diagnostic(
        `${report.cases} cases, ${report.fetches} fetches, ${report.publicConnections} public connections, 0 canary hits`,
      );
    });
  }

  await t.test('the canaries are there: a fetch without rules reaches them in most cases', (sub) => {
    const report = reports.find((one) => one.road === unguardedRoad.name);
    assert.ok(report);
    const reached = new Set(report.canaryHits.map((hit) => hit.url));
    assert.ok(reached.size >= 100, `only ${reached.size} cases reach a canary`);
    const addresses = new Set(report.canaryHits.map((hit) => hit.address));
    for (const address of ['169.254.169.254', '10.0.0.5', '127.0.0.1', '::1', 'fd00:ec2::254'])
      assert.ok(addresses.has(address), address);
    sub.diagnostic(`${reached.size} of ${report.cases} cases reach one of ${addresses.size} canaries`);
  });
});

function attack(): RoadReport[] {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-ssrf-'));
  try {
    const { cert, key } = createCertificate(['site.test']);
    const [report, certificateFile, keyFile] = [
      join(folder, 'report.json'),
      join(folder, 'cert.pem'),
      join(folder, 'key.pem'),
    ];
    writeFileSync(certificateFile, cert);
    writeFileSync(keyFile, key);
    const script = join(import.meta.dirname, 'run-roads.ts');
    const { status, output } = runInNamespace([process.execPath, script, report, certificateFile, keyFile], {
      folder,
      env: { NODE_EXTRA_CA_CERTS: certificateFile, CARREL_TEST_FULL: process.env['CARREL_TEST_FULL'] ?? '' },
      timeoutMs: 540_000,
    });
    assert.equal(status, 0, output);
    return JSON.parse(readFileSync(report, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
