import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadRoleConfig } from '../../src/app/program.ts';
import { roles } from '../../src/app/roles.ts';
import { httpSlice } from '../../src/config/slices.ts';
import { type ComposeFile, type ComposeService, interpolate } from '../support/compose-file.ts';

/** A service's environment, with the keys filled in. */
export function environmentOf(
  { environment = {} }: ComposeService,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolate(value, given)]));
}

/** The services of a compose file that run this program. */
export function ownServices({ services }: ComposeFile): [string, ComposeService][] {
  return Object.entries(services).filter(([, { image }]) => image === 'carrel');
}

/** Tests that each service is a role with valid settings, reachable at its address, and confined. */
export function testOwnServices(file: ComposeFile, given: Readonly<Record<string, string>>): void {
  for (const [name, service] of ownServices(file)) {
    const [command = '', ...args] = service.command ?? [];
    const role = roles[command];
    const env = environmentOf(service, given);

    test(`${name} runs a role, and sets only variables that it reads, with valid values`, () => {
      assert.ok(role, `${command} is not a role`);
      const config = loadRoleConfig(role, flagsOf(args), { ...env, CARREL_HOME: '/data' });
      const read = config.settings.map(({ source }) => source);
      for (const variable of Object.keys(env)) {
        assert.ok(read.includes(variable), `${variable} is not read by carrel ${command}, or another one wins`);
      }
    });

    test(`${name} listens beyond loopback, on the published and checked port`, () => {
      assert.ok(role);
      const { host, port, transport, authToken } = loadRoleConfig(role, flagsOf(args), env).of(httpSlice);
      assert.deepEqual([host, transport], ['0.0.0.0', 'http']);
      assert.ok(authToken, 'without a key everybody could call');
      for (const published of [...(service.ports ?? []), ...(service.expose ?? [])]) {
        assert.equal(published.split(':').at(-1), String(port));
        if (published.includes(':')) assert.match(published, /^127\.0\.0\.1:/, 'published on this machine only');
      }
      const checked = service.healthcheck?.test.join(' ');
      if (checked !== undefined) assert.match(checked, new RegExp(`http://127\\.0\\.0\\.1:${port}/`));
    });

    test(`${name} keeps its data in a declared volume, and writes nowhere else`, () => {
      const [volume = '', place] = service.volumes?.[0]?.split(':') ?? [];
      if (volume !== '') assert.ok(Object.hasOwn(file.volumes, volume), volume);
      else assert.ok(service.tmpfs?.some((each) => each.startsWith('/data:')));
      if (volume !== '') assert.equal(place, '/data');
      assert.equal(service['read_only'], 'true');
      assert.deepEqual(service['cap_drop'], ['ALL']);
    });
  }
}

/** `--name value`, or `--name` for a flag without a value. */
export function flagsOf(args: readonly string[]): Record<string, string | true> {
  const flags: Record<string, string | true> = {};
  for (const [index, each] of args.entries()) {
    const value = args[index + 1];
    if (each.startsWith('--')) flags[each.slice(2)] = value === undefined || value.startsWith('--') ? true : value;
  }
  return flags;
}
