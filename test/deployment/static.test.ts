import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readFessConfig } from '../../src/toolsets/fess/read-fess-config.ts';
import { type ComposeService, readComposeFile, readDockerfile } from '../support/compose-file.ts';
import { environmentOf, ownServices, testOwnServices } from './own-services.ts';

const root = join(import.meta.dirname, '../..');
const { services, volumes } = readComposeFile();
const given = {
  KB_API_KEY: 'k1',
  KB_MCP_API_KEY: 'k2',
  POSTGRES_PASSWORD: 'k3',
  CARREL_AUTH_TOKEN: 'k4',
  CARREL_FESS_CONFIG: '/etc/carrel/fess.json',
  KB_MCP_PUBLIC_URL: 'https://kb.example',
  CARREL_PUBLIC_URL: 'https://carrel.example',
};
const own = ownServices({ services, volumes });
const environment = (service: ComposeService | undefined) => environmentOf(service ?? {}, given);

describe('compose.yaml, contract §9 and 003 "Docker Compose deployment"', () => {
  testOwnServices({ services, volumes }, given);

  test('kb and serve reach the engine by its service name, with its key', () => {
    const env = environment(services['engine']);
    for (const name of ['kb', 'serve']) {
      const caller = environment(services[name]);
      assert.equal(caller['KB_ENGINE_URL'], `http://engine:${env['KB_PORT']}`);
      assert.equal(caller['KB_API_KEY'], env['KB_API_KEY']);
    }
    assert.equal(env['CARREL_ALLOWED_HOSTS'], 'engine', 'the engine answers under this name');
  });

  test('serve finds the mounted Fess configuration, and Fess by its service name', () => {
    const [file = '', place] = services['serve']?.volumes?.[1]?.split(':') ?? [];
    assert.equal(place, environment(services['serve'])['CARREL_FESS_CONFIG']);
    const { fessBaseUrl, knowledgeDomains } = readFessConfig({}, join(root, file));
    assert.equal(fessBaseUrl, 'http://fess:8080');
    assert.equal(knowledgeDomains[0]?.id, 'docs');
    for (const name of ['fess', 'fess-search']) {
      assert.deepEqual(services[name]?.['profiles'], ['fess'], 'only for those who ask for it');
      assert.match(services[name]?.image ?? '', /:\d+\.\d+\.\d+$/);
      for (const port of services[name]?.ports ?? []) assert.match(port, /^127\.0\.0\.1:/, 'on this machine only');
    }
  });

  test('PostgreSQL users have matching user, password and database', () => {
    const made = environment(services['postgres']);
    const users = own.filter(([, service]) => environment(service)['STORAGE_BACKEND'] === 'postgresql');
    assert.equal(users.length, 2);
    for (const [, service] of users) {
      const url = new URL(environment(service)['POSTGRESQL_CONNECTION_STRING'] ?? '');
      assert.deepEqual(
        [url.username, url.password, url.hostname, url.port, url.pathname],
        [made['POSTGRES_USER'], made['POSTGRES_PASSWORD'], 'postgres', '5432', `/${made['POSTGRES_DB']}`],
      );
    }
  });

  test('keys have no defaults, and a missing one stops Docker Compose with advice', () => {
    const text = readFileSync(join(root, 'compose.yaml'), 'utf8');
    for (const variable of ['KB_API_KEY', 'KB_MCP_API_KEY', 'POSTGRES_PASSWORD']) {
      const uses = [...text.matchAll(new RegExp(`\\$\\{${variable}([^}]*)\\}`, 'g'))];
      assert.ok(uses.length > 0);
      for (const [use, rest] of uses) assert.match(rest ?? '', /^:\?Set \w+ in \.env/, use);
    }
    // Compose fills in the whole file, including inactive profiles; serve itself refuses to start without one.
    assert.match(text, /\$\{CARREL_AUTH_TOKEN:-\}/);
  });
});

describe('Dockerfile', () => {
  const { text, last } = readDockerfile();

  test('every stage starts from the Node that the program is built and tested with', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    assert.equal(bases.length, 3);
    for (const base of bases) assert.equal(base, `node:${devDependencies.node}-bookworm-slim`);
  });

  test('runs as an unprivileged user, has a health check, and keeps data in a volume', () => {
    assert.deepEqual(last.get('USER'), ['node']);
    assert.match(last.get('HEALTHCHECK')?.[0] ?? '', /127\.0\.0\.1:8737\/health/);
    assert.deepEqual(last.get('VOLUME'), ['/data']);
    assert.ok(last.get('ENV')?.includes('CARREL_HOME=/data'));
    assert.deepEqual(last.get('EXPOSE'), ['8737']);
  });

  test('the build fetches only from the registry, exactly what the lock file names', () => {
    const runs = [...text.replace(/\\\n/g, ' ').matchAll(/^RUN (.+)$/gm)].map(([, command = '']) => command);
    assert.doesNotMatch(runs.join('\n'), /curl|wget|apt|git |npm (i|install)\b|npx/);
    assert.equal(runs.filter((command) => command.startsWith('npm ci')).length, 2);
    assert.doesNotMatch(text, /^ADD /m);
  });

  test('the last stage copies existing, unignored files that the package needs at run time', () => {
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
    const copied = (last.get('COPY') ?? [])
      .filter((line) => !line.startsWith('--from'))
      .flatMap((line) => line.split(' ').slice(0, -1));
    for (const name of copied) {
      assert.ok(existsSync(join(root, name)), name);
      assert.ok(ignored.includes(`!${name}`), `${name} is not sent to the build`);
    }
    for (const name of ['bin', 'models', 'package.json']) assert.ok(copied.includes(name), name);
    assert.ok(last.get('COPY')?.includes('--from=build /app/dist dist'));
    assert.equal(ignored[0], '*', 'nothing is sent that is not named, keys in .env least of all');
    assert.equal(
      ignored.some((line) => line.startsWith('!.env')),
      false,
    );
  });
});
