import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder, locked, recentObstacle, rememberObstacle } from './cached-install.ts';

/** Exact versions, so that runs are repeatable. LangChain is separate, because its adapters need an older official client. */
const environments = {
  clients: ['fastmcp==4.1.2', 'mcp==2.3.0', 'prometheus_client==0.26.0', 'opentelemetry-proto==1.45.2'],
  langchain: ['langchain==1.4.7', 'langchain-mcp-adapters==0.3.2'],
};

/**
 * Installs a Python environment: `clients` has FastMCP's client, the official client, Prometheus's parser and OpenTelemetry's
 * messages; `langchain` has LangChain. Later runs reuse it. `CARREL_PYTHON_ROOT` sets the folder of `clients`. `obstacle` says
 * why it is missing: no Python, or no package registry. Any other failure throws. The first run takes half a minute and 150 MB.
 */
export function pythonWith(name: keyof typeof environments): { python: string } | { obstacle: string } {
  const packages = environments[name];
  const configuredRoot = name === 'clients' ? process.env['CARREL_PYTHON_ROOT'] : undefined;
  const root = configuredRoot || cacheFolder(`python-${packages.join('-')}`);
  // This file marks a complete environment. Environments can't be moved, so the folder can't be renamed when complete.
  const marker = join(root, 'complete');
  const python = join(root, 'bin/python');
  // Another user may have created it with a Python that this user can't access.
  const isUsable = () => existsSync(marker) && existsSync(python);
  if (isUsable()) return { python };
  mkdirSync(dirname(root), { recursive: true });
  return locked(`${root}.lock`, () => {
    if (isUsable()) return { python };
    const obstacle = recentObstacle(root) ?? install(root, packages);
    if (obstacle !== undefined) return { obstacle };
    mkdirSync(`${marker}.unfinished`);
    renameSync(`${marker}.unfinished`, marker);
    return { python };
  });
}

function install(root: string, packages: readonly string[]): string | undefined {
  const python3 = findPython();
  if (python3 === undefined) return rememberObstacle(root, 'there is no Python 3.10 or later with venv');
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  execFileSync(python3, ['-m', 'venv', root], { stdio: ['ignore', 'ignore', 'inherit'] });
  const options = ['--disable-pip-version-check', '--quiet', '--retries', '1', '--timeout', '20'];
  const { status, stderr } = spawnSync(join(root, 'bin/python'), ['-m', 'pip', 'install', ...options, ...packages], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  if (status === 0) return undefined;
  if (unreachableMessage.test(stderr)) return rememberObstacle(root, 'pip cannot reach the package registry');
  throw new Error(`pip cannot install ${packages.join(', ')}: ${stderr.slice(-2000)}`);
}

/** Matches pip's messages for an unknown host, a refused connection and a timeout. */
const unreachableMessage =
  /Failed to establish a new connection|ConnectTimeout|Read timed out|Connection refused|ProxyError/;

function findPython(): string | undefined {
  return ['python3', '/usr/bin/python3', '/usr/local/bin/python3'].find((name) => {
    const test = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';
    return spawnSync(name, ['-c', test], { stdio: 'ignore' }).status === 0;
  });
}
