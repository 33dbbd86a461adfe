import assert from 'node:assert/strict';
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadRoleConfig } from '../../src/app/program.ts';
import { roles } from '../../src/app/roles.ts';
import { engineRoles, engineSlice } from '../../src/engine/engine-slice.ts';
import { type ComposeService, readComposeFile } from '../support/compose-file.ts';
import { environmentOf, flagsOf, ownServices, testOwnServices } from './own-services.ts';

const folder = join(import.meta.dirname, '../../deploy/cluster');
const file = readComposeFile('deploy/cluster/compose.yaml');
const { services, volumes } = file;
const given = {
  ...{ CARREL_AUTH_TOKEN: 'k1', KB_API_KEY: 'k2', POSTGRES_PASSWORD: 'k3', REPLICATION_PASSWORD: 'k4' },
  ...{ CARREL_PUBLIC_URL: 'https://carrel.example' },
};
const env = (name: string) => environmentOf(services[name] ?? assert.fail(name), given);

const rolesOf = ({ command: [command = '', ...args] = [], ...service }: ComposeService): readonly string[] =>
  loadRoleConfig(roles[command] ?? assert.fail(command), flagsOf(args), environmentOf(service, given)).of(engineSlice)
    .roles;

describe('deploy/cluster/compose.yaml: two servers, two engines, PgBouncer, and PostgreSQL with a standby', () => {
  testOwnServices(file, given);

  test('servers only answer, engines only work, and every role is assigned', () => {
    const all = Object.fromEntries(ownServices(file).map(([name, service]) => [name, rolesOf(service)]));
    assert.deepEqual(all, { serve: ['search'], 'engine-ingest': ['ingest'], 'engine-embed': ['embed'] });
    assert.deepEqual(new Set(Object.values(all).flat()), new Set(engineRoles));
    assert.deepEqual(services['serve']?.['deploy'], { replicas: '2' });
  });

  test('all use one database through the poolers, with matching credentials', () => {
    const urls = new Set(ownServices(file).map(([name]) => env(name)['POSTGRESQL_CONNECTION_STRING']));
    assert.equal(urls.size, 1);
    const [, user, password, places = '', database] =
      /^postgres:\/\/(\w+):(\w+)@([^/]+)\/(\w+)$/.exec([...urls][0] ?? '') ?? [];
    const read = env('serve')['DATABASE_READ_URL'] ?? '';
    assert.equal(read.replace(/@[^/]+/, `@${places}`), [...urls][0]);
    assert.deepEqual(/@([^/]+)/.exec(read)?.[1]?.split(',').toSorted(), places.split(',').toSorted());
    for (const place of places.split(',')) {
      const [host = '', port] = place.split(':');
      const pooler = env(host);
      assert.deepEqual(
        [pooler['LISTEN_PORT'], pooler['DB_USER'], pooler['DB_PASSWORD'], pooler['DB_NAME'], pooler['POOL_MODE']],
        [port, user, password, database, 'transaction'],
      );
      const made = env(pooler['DB_HOST'] ?? '');
      assert.deepEqual(
        [made['POSTGRES_USER'], made['POSTGRES_PASSWORD'], made['POSTGRES_DB']],
        [user, password, database],
      );
    }
    assert.deepEqual(
      ['postgres-1', 'postgres-2'].map((name) => env(name)['FOLLOWS']),
      ['', 'postgres-1'],
    );
  });

  test('mounted files exist and are executable if run, and every volume is declared', () => {
    for (const { volumes: mounts = [], entrypoint = [] } of Object.values(services)) {
      for (const mount of mounts) {
        const [source = '', place = ''] = mount.split(':');
        if (!source.startsWith('./')) assert.ok(Object.hasOwn(volumes, source), source);
        else accessSync(join(folder, source), place.endsWith('.sh') ? constants.X_OK : constants.R_OK);
      }
      for (const program of entrypoint)
        assert.ok(
          mounts.some((mount) => mount.split(':')[1] === program),
          program,
        );
    }
  });

  test('the balancer uses the port of the servers, and checks a path and a name that they accept', () => {
    const balancer = readFileSync(join(folder, 'haproxy.cfg'), 'utf8');
    const port = env('serve')['CARREL_PORT'];
    assert.equal(balancer.split(`serve:${port} check`).length, 3);
    assert.equal(balancer.split('uri /health ver HTTP/1.1 hdr Host localhost').length, 3);
    assert.equal(services['balancer']?.ports?.[0]?.split(':').at(-1), /bind :(\d+)/.exec(balancer)?.[1]);
  });

  test('keys have no defaults, and only the balancer and carrel add are reachable from outside', () => {
    const text = readFileSync(join(folder, 'compose.yaml'), 'utf8');
    for (const variable of ['CARREL_AUTH_TOKEN', 'KB_API_KEY', 'POSTGRES_PASSWORD', 'REPLICATION_PASSWORD']) {
      for (const [use, rest] of text.matchAll(new RegExp(`\\$\\{${variable}([^}]*)\\}`, 'g'))) {
        assert.match(rest ?? '', /^:\?Set \w+ in \.env/, use);
      }
    }
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name} ${port}`),
    );
    assert.deepEqual(published, ['balancer 127.0.0.1:8737:8080', 'engine-ingest 127.0.0.1:8000:8000']);
    for (const [name, { image = '' }] of Object.entries(services)) assert.match(image, /^carrel$|:v?\d+\.\d+/, name);
  });
});
