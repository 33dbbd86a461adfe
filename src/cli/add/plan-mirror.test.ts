import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MirroredDocument, planMirror } from './plan-mirror.ts';

const document = (id: number, path: string, hash: string | null): MirroredDocument => ({ id, path, hash });
const plan = (
  files: Record<string, string>,
  documents: MirroredDocument[],
  isUnknown: (path: string) => boolean = () => false,
) => {
  const { moves, removals, additions } = planMirror(new Map(Object.entries(files)), documents, isUnknown);
  return {
    ...(moves.length === 0 ? {} : { moves: moves.map((move) => [move.document.id, move.path]) }),
    removals: removals.map(({ id }) => id),
    additions: additions.map(({ path, previous }) => [path, ...previous.map(({ id }) => id)]),
  };
};

test('files in sync need no changes', () => {
  assert.deepEqual(plan({ '/a': '1' }, [document(1, '/a', '1')]), { removals: [], additions: [] });
});

test('adds a new file and removes a missing one', () => {
  assert.deepEqual(plan({ '/b': '2' }, [document(1, '/a', '1')]), { removals: [1], additions: [['/b']] });
});

test('removes the old document of a changed file after adding the new one', () => {
  assert.deepEqual(plan({ '/a': '2' }, [document(1, '/a', '1')]), { removals: [], additions: [['/a', 1]] });
});

test('the document of a renamed file moves', () => {
  assert.deepEqual(plan({ '/b': '1' }, [document(1, '/a', '1')]), { moves: [[1, '/b']], removals: [], additions: [] });
});

test('moves the documents of two files that swapped paths', () => {
  assert.deepEqual(plan({ '/a': '2', '/b': '1' }, [document(1, '/a', '1'), document(2, '/b', '2')]), {
    moves: [
      [1, '/b'],
      [2, '/a'],
    ],
    removals: [],
    additions: [],
  });
});

test("a file renamed over another keeps its document, and the other file's document is removed", () => {
  assert.deepEqual(plan({ '/b': '1' }, [document(1, '/a', '1'), document(2, '/b', '2')]), {
    moves: [[1, '/b']],
    removals: [2],
    additions: [],
  });
});

test('if a file is copied and then edited, the copy keeps the document and the edited file gets a new one', () => {
  assert.deepEqual(plan({ '/a': '2', '/copy': '1' }, [document(1, '/a', '1')]), {
    moves: [[1, '/copy']],
    removals: [],
    additions: [['/a']],
  });
});

test('one of two identical files owns the document; when it is deleted, the other becomes the owner', () => {
  assert.deepEqual(plan({ '/a': '1', '/b': '1' }, [document(1, '/a', '1')]), { removals: [], additions: [] });
  assert.deepEqual(plan({ '/a': '1', '/b': '1' }, []), { removals: [], additions: [['/a']] });
  assert.deepEqual(plan({ '/b': '1' }, [document(1, '/a', '1')]), { moves: [[1, '/b']], removals: [], additions: [] });
});

test('lists the other files with the same content as duplicates', () => {
  const { duplicates } = planMirror(
    new Map([
      ['/a', '1'],
      ['/b', '1'],
      ['/c', '2'],
      ['/d', '2'],
    ]),
    [document(1, '/b', '1')],
    () => false,
  );
  assert.deepEqual(duplicates, [
    { path: '/a', hash: '1' },
    { path: '/d', hash: '2' },
  ]);
});

test('a file changed into a copy of another loses its document', () => {
  assert.deepEqual(plan({ '/a': '2', '/b': '2' }, [document(1, '/a', '1'), document(2, '/b', '2')]), {
    removals: [1],
    additions: [],
  });
});

test('removes duplicates left by a killed process', () => {
  assert.deepEqual(plan({ '/a': '2' }, [document(1, '/a', '1'), document(2, '/a', '2')]), {
    removals: [1],
    additions: [],
  });
});

test('keeps documents below an unreadable folder', () => {
  assert.deepEqual(
    plan({}, [document(1, '/locked/a', '1')], (path) => path.startsWith('/locked/')),
    { removals: [], additions: [] },
  );
});

test('a document without a hash counts as changed', () => {
  assert.deepEqual(plan({ '/a': '1' }, [document(1, '/a', null)]), { removals: [], additions: [['/a', 1]] });
});
