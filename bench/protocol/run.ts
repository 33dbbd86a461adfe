/**
 * Compares the protocol layer with the bare SDKs and with bare Node: `node bench/protocol/run.ts [--quick]`. Needs Linux (it
 * reads /proc) and the built product (`npm run build`). Exits with 1 if a target is missed.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { residentMegabytes } from '../processes.ts';
import { bundlePeers } from './bundle.ts';
import { type Case, cases, peerNames, type RunningCase, startCase } from './cases.ts';
import { type RoundSize, runRound } from './load.ts';
import { type CaseResult, checkTargets, loadTable, type StartUpResult, startUpTable } from './report.ts';
import { fillCompileCache, measureStartUp } from './start-up.ts';

interface Plan {
  rounds: number;
  starts: number;
  /** A stdio request costs a fraction of an HTTP one, so a round needs more of them. */
  size: Record<Case['transport'], RoundSize>;
}

const full: Plan = {
  rounds: 9,
  starts: 15,
  size: { stdio: { sequential: 200, concurrent: 5_000 }, http: { sequential: 200, concurrent: 1_000 } },
};
const quick: Plan = {
  rounds: 5,
  starts: 5,
  size: { stdio: { sequential: 100, concurrent: 3_000 }, http: { sequential: 100, concurrent: 600 } },
};
/** Warm-up calls, after which V8 has optimised the code. */
const warmUp: RoundSize = { sequential: 0, concurrent: 3_000 };
/** Max time of all rounds: a very busy machine gets fewer rounds, not a longer run. */
const roundsMsMax = 100_000;
const roundsMin = 3;

const product = new URL('../../bin/carrel.js', import.meta.url).pathname;
if (process.platform !== 'linux') throw new Error('CPU time and memory are read from /proc, which only Linux has.');
if (!existsSync(new URL('../../dist/carrel.js', import.meta.url))) throw new Error('Run npm run build first.');

const plan = process.argv.includes('--quick') ? quick : full;
const fileOf = await bundlePeers(peerNames);
const [load = 0] = loadavg();
const cores = availableParallelism();
console.log(`Node ${process.version}, ${process.arch}, ${cores} cores, load ${load.toFixed(1)}`);
if (load > cores) console.log('This machine is busy: compare CPU times, not elapsed times.');

const { warmStart, firstStart, sdk, bareNode } = await measureStartUps(plan.starts);
const results = await measureLoad(plan);
console.log(`\n${startUpTable([warmStart, firstStart, sdk, bareNode])}\n\n${loadTable(results)}\n`);
for (const { target, measured, isReached } of checkTargets(results, warmStart, sdk)) {
  console.log(`${isReached ? 'reached' : 'MISSED '}  ${target}: ${measured}`);
  if (!isReached) process.exitCode = 1;
}

async function measureStartUps(starts: number) {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  const serve = (name: string): string[] => [
    product,
    'serve',
    '--alone',
    '--transport',
    'stdio',
    '--data-dir',
    join(folder, name),
  ];
  await fillCompileCache(serve('used'));
  const warmStart: StartUpResult = { server: 'Carrel, the built product', runs: [] };
  const firstStart: StartUpResult = { server: 'Carrel, in a new folder', runs: [] };
  const sdk: StartUpResult = { server: 'SDK v2, bundled', runs: [] };
  const bareNode: StartUpResult = { server: 'bare node', runs: [] };
  for (let start = 0; start < starts; start += 1) {
    warmStart.runs.push(await measureStartUp(serve('used')));
    firstStart.runs.push(await measureStartUp(serve(`new-${start}`)));
    sdk.runs.push(await measureStartUp([fileOf('sdk-v2-stdio'), 'stdio']));
    bareNode.runs.push(await measureStartUp([fileOf('bare-node'), 'stdio']));
  }
  rmSync(folder, { recursive: true });
  return { warmStart, firstStart, sdk, bareNode };
}

/** Runs all cases in every round, so that other load on the machine affects all alike. */
async function measureLoad({ rounds, size }: Plan): Promise<CaseResult[]> {
  const running: RunningCase[] = [];
  try {
    for (const each of cases) running.push(await startCase(each, fileOf(each.file)));
    const results = running.map(({ case: testCase, pid }): CaseResult => {
      return { case: testCase, rounds: [], residentFirst: residentMegabytes(pid), residentLast: 0 };
    });
    for (const { client, pid } of running) await runRound(client, pid, warmUp);
    const start = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      if (round >= roundsMin && performance.now() - start > roundsMsMax) break;
      for (const [index, { case: testCase, client, pid }] of running.entries()) {
        results[index]?.rounds.push(await runRound(client, pid, size[testCase.transport]));
      }
    }
    for (const [index, result] of results.entries()) result.residentLast = residentMegabytes(running[index]?.pid ?? 0);
    return results;
  } finally {
    await Promise.all(running.map((each) => each.kill()));
  }
}
