import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import type { AddEvent } from '../../src/cli/add/add-event.ts';
import { documentsOf, hashesOf, startAdd } from '../support/add-program.ts';
import { makeFolder, startCarrel } from '../support/child-program.ts';

const engineEnv = { EMBEDDING_PROVIDER: 'none' };
const sharedEngine = await startCarrel({ after }, ['engine'], { env: engineEnv });

test('issue "Watch a folder": a collection follows its folder', async (t) => {
  const { folder, file, watch, inStep, documents } = setUp(t);
  writeFileSync(file('kept.md'), 'kept');
  const watching = watch();
  assert.equal((await inStep(watching)).files, 1);

  await t.test('new, changed, renamed and removed files, each checked in the collection', async () => {
    const step = async (event: AddEvent['event'], change: () => void) => {
      change();
      const found = await watching.next((each) => each.event === event);
      await inStep(watching);
      return found;
    };
    await step('added', () => {
      mkdirSync(file('sub/deeper'), { recursive: true });
      writeFileSync(file('sub/deeper/new.md'), 'first text');
    });
    const replaced = await step('replaced', () => writeFileSync(file('sub/deeper/new.md'), 'second text'));
    assert.ok(replaced.event === 'replaced' && replaced.path === file('sub/deeper/new.md'));
    const { document_id: id } = replaced;
    assert.equal(replaced.former_id, id, 'an edited file keeps its document');
    await step('replaced', () => {
      // As editors save: to a new file that is renamed.
      writeFileSync(file('.new.md.swp'), 'third text');
      renameSync(file('.new.md.swp'), file('sub/deeper/new.md'));
    });
    const moved = await step('moved', () => renameSync(file('sub'), file('other')));
    const way = { from: file('sub/deeper/new.md'), path: file('other/deeper/new.md') };
    assert.deepEqual(moved, { event: 'moved', ...way, document_id: id }, 'so does a renamed one');
    await step('moved', () => renameSync(file('other/deeper/new.md'), file('renamed.md')));
    await step('removed', () => rmSync(file('renamed.md')));
    assert.deepEqual(Object.keys(hashesOf(folder)), [file('kept.md')]);
  });

  await t.test('a burst of changes ends in sync; one of several equal files has the document', async () => {
    for (let index = 0; index < 20; index += 1) writeFileSync(file(`${index}.txt`), `text ${index}`);
    for (let index = 0; index < 20; index += 2) writeFileSync(file(`${index}.txt`), `changed ${index}`);
    for (let index = 0; index < 20; index += 5) rmSync(file(`${index}.txt`));
    for (let index = 1; index < 20; index += 5) renameSync(file(`${index}.txt`), file(`moved-${index}.txt`));
    await inStep(watching);
    assert.equal(Object.keys(await documents()).length, 17);

    writeFileSync(file('twin.txt'), 'text 3');
    await watching.next(({ event }) => event === 'in_step' || event === 'duplicate');
    assert.equal(Object.keys(await documents()).length, 17);
    rmSync(file('3.txt'));
    await watching.next((event) => event.event === 'moved' && event.path === file('twin.txt'));
    await inStep(watching);
    assert.equal((await documents())[file('twin.txt')], hashesOf(folder)[file('twin.txt')]);
  });

  await t.test('finds changes made while nobody watched at the next start', async () => {
    // A name may contain any space character: macOS uses this one in the names of screenshots.
    const same = file('same  2.43\u202fPM.txt ');
    const changed = file('changed\u00a0name.txt');
    for (const path of [same, changed, file('removed.txt')]) writeFileSync(path, path);
    await inStep(watching);
    watching.process.kill('SIGKILL');
    await watching.exited;
    writeFileSync(changed, 'changed since');
    rmSync(file('removed.txt'));
    writeFileSync(file('new.txt'), 'new');
    const second = watch();
    await inStep(second);
    const lines = second.events.flatMap((event) => ('path' in event ? [`${event.event} ${event.path}`] : []));
    const changes = lines.filter((line) => !line.startsWith('accepted')).sort();
    assert.deepEqual(
      changes,
      [`added ${file('new.txt')}`, `removed ${file('removed.txt')}`, `replaced ${changed}`],
      'what is the same is left alone',
    );
    second.process.kill('SIGTERM');
    assert.equal(await second.exited, 0, second.stderrText());
  });
});

test('issue "Watch a folder": a missing or empty folder removes no documents', async (t) => {
  const { folder, file, watch, inStep, documents } = setUp(t);
  writeFileSync(file('a.txt'), 'a');
  const first = watch();
  await inStep(first);
  const before = await documents();
  renameSync(folder, `${folder}-away`);
  mkdirSync(folder);
  const unmounted = watch();
  await unmounted.inStep();
  assert.deepEqual(await documents(), before, 'an empty folder at the start may be a disk that is not mounted');
  assert.equal(first.events.filter(({ event }) => event === 'removed').length, 0);
  unmounted.process.kill('SIGTERM');
  assert.equal(await unmounted.exited, 0);
  rmSync(`${folder}-away`, { recursive: true });
});

test('issue "Watch a folder": waits for an unavailable engine, and loses nothing', async (t) => {
  const engine = await startCarrel(t, ['engine'], { env: engineEnv });
  const { folder, file, watch, documents } = setUp(t, engine);
  writeFileSync(file('a.txt'), 'a');
  const watching = watch();
  await watching.inStep();
  engine.process.kill('SIGKILL');
  await engine.exited;
  writeFileSync(file('b.txt'), 'b');
  await watching.next(({ event }) => event === 'waiting');
  const { port: PORT } = new URL(engine.url);
  await startCarrel(t, ['engine'], { dataDir: engine.dataDir, env: { ...engineEnv, PORT, KB_PORT: PORT } });
  await watching.next((event) => event.event === 'added' && event.path === file('b.txt'));
  await watching.inStep();
  assert.deepEqual(await documents(), hashesOf(folder));
});

test('issue "Watch a folder": the engine may run in the same process', async (t) => {
  const folder = realpathSync(makeFolder(t));
  const dataDir = join(makeFolder(t), 'data');
  writeFileSync(join(folder, 'a.txt'), 'a');
  const watching = startAdd(t, [folder, '--watch', '--collection', 'watched'], dataDir, engineEnv);
  await watching.inStep();
  writeFileSync(join(folder, 'b.txt'), 'b');
  await watching.next(({ event }) => event === 'added');
  await watching.inStep();
  watching.process.kill('SIGINT');
  assert.equal(await watching.exited, 0, watching.stderrText());
  const engine = await startCarrel(t, ['engine'], { dataDir, env: engineEnv });
  assert.deepEqual(await documentsOf(engine.url, 'watched'), hashesOf(folder));
});

function setUp(t: TestContext, engine = sharedEngine) {
  const folder = realpathSync(makeFolder(t));
  const collection = basename(folder);
  const documents = () => documentsOf(engine.url, collection);
  const watch = () =>
    startAdd(t, ['--watch', folder, '--collection', collection], join(makeFolder(t), 'data'), {
      KB_ENGINE_URL: engine.origin,
    });
  return {
    folder,
    file: (name: string) => join(folder, name),
    documents,
    watch,
    /** Waits until it reports being in sync, and compares with the engine; a later change may have been noticed in between. */
    async inStep(watching: ReturnType<typeof startAdd>) {
      for (;;) {
        const event = await watching.inStep();
        if (JSON.stringify(await documents()) !== JSON.stringify(sorted(hashesOf(folder), await documents()))) continue;
        assert.ok(event.event === 'in_step');
        return event;
      }
    },
  };
}

/** The same hashes in the key order of the other. */
function sorted(hashes: Record<string, string>, order: Record<string, string>): Record<string, string> {
  const rest = Object.keys(hashes).filter((path) => !Object.hasOwn(order, path));
  return Object.fromEntries([...Object.keys(order), ...rest].map((path) => [path, hashes[path] ?? '']));
}
