import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { isCarrelError } from '../src/base/errors.ts';
import { parseCommandLine } from '../src/cli/command-line.ts';

// Issue 39: "Links and commands on every page are run by a test, as far as they can be."

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const pages = globSync('{*.md,{bench,deploy,docs,models,training}/**/*.md}', { cwd: root }).map((file) => ({
  file,
  text: read(file),
}));

const fence = /^( *)```(\w*)\n([\s\S]*?)\n\1```$/gm;
const withoutBlocks = (text: string): string => text.replaceAll(fence, '');

/** The anchors that GitHub derives from a page's headings. */
function anchorsOf(file: string): Set<string> {
  const headings = [...withoutBlocks(read(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

test('links between pages point to existing files, and their anchors to headings', () => {
  const broken = pages.flatMap(({ file, text }) =>
    [...withoutBlocks(text).matchAll(/\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]+))?\)/g)].flatMap(
      ([link, path = '', anchor]) => {
        const target = path === '' ? file : relative(root, join(root, file, '..', path));
        if (!existsSync(join(root, target))) return [`${file}: ${link}`];
        return anchor === undefined || anchorsOf(target).has(anchor) ? [] : [`${file}: ${link}`];
      },
    ),
  );
  assert.deepEqual(broken, []);
});

test('docs/README.md lists every page', () => {
  const index = read('docs/README.md');
  const missing = globSync('**/*.md', { cwd: join(root, 'docs') }).filter((page) => !index.includes(`](${page})`));
  assert.deepEqual(missing, ['README.md']);
});

/** The words of a shell command, up to its end. Placeholders count as words. */
function wordsOf(command: string): string[] {
  const [plain = ''] = command.replaceAll('\\\n', ' ').split(/ [|#>;&]+(?: |$)|\s2>|[;)]/);
  const words = [...plain.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replaceAll(/["']/g, ''));
  return words.filter((word) => word !== '…' && word !== '...');
}

/** Every call of the program in a line: after a prompt, variables, `&&` or a wrapper. */
function callsIn(line: string): string[][] {
  const starts = line.matchAll(/(?:^|[\s($])(?:carrel|(?:npx )?node bin\/carrel\.js)(?= |$)/g);
  return [...starts].map(({ index, 0: start }) => wordsOf(line.slice(index + start.length)));
}

test('every command in a block is valid as written', () => {
  const wrong = pages.flatMap(({ file, text }) =>
    [...text.matchAll(fence)].flatMap(([, , language = '', block = '']) => {
      if (!['sh', 'console', 'bash'].includes(language)) return [];
      const lines = block.replaceAll('\\\n', ' ').split('\n');
      const typed = language === 'console' ? lines.filter((line) => line.startsWith('$ ')) : lines;
      const commands = typed.map((line) => line.trim()).filter((line) => !line.startsWith('#'));
      // In a container the program is the entry point, and the command names the image.
      const own = commands.filter((line) => !/\bdocker\b/.test(line));
      return own
        .flatMap(callsIn)
        .flatMap((words) => faultOf(words).map((fault) => `${file}: ${words.join(' ')}: ${fault}`));
    }),
  );
  assert.deepEqual(wrong, []);
});

test('every command in a sentence exists, with its flags', () => {
  const wrong = pages.flatMap(({ file, text }) =>
    [...withoutBlocks(text).matchAll(/`carrel ([^`]+)`/g)].flatMap(([, line = '']) => {
      // `a|b` are alternatives, and brackets mark optional parts.
      const plain = line.replaceAll(/\\?\|[^\s\]]+/g, '').replaceAll(/\[[^\]]*\]/g, '');
      const words = wordsOf(plain);
      // A sentence may omit the arguments.
      const faults = faultOf(words).filter((fault) => !/ needs |takes a value|needs a value/.test(fault));
      return faults.map((fault) => `${file}: ${line}: ${fault}`);
    }),
  );
  assert.deepEqual(wrong, []);
});

function faultOf(words: readonly string[]): string[] {
  try {
    parseCommandLine(words);
    return [];
  } catch (error) {
    assert.ok(isCarrelError(error));
    return [error.message];
  }
}

test('scripts and files that commands name exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const wrong = pages.flatMap(({ file, text }) => [
    ...[...text.matchAll(/\bnpm run (?:--silent )?([\w:]+)/g)].flatMap(([call, name = '']) =>
      name in scripts ? [] : [`${file}: ${call}`],
    ),
    ...[...text.matchAll(/\b(?:bench|scripts|test|src|training)\/[\w./-]*\.(?:ts|json|py|md|yaml|c)\b/g)].flatMap(
      ([path]) => (existsSync(join(root, path)) ? [] : [`${file}: ${path}`]),
    ),
  ]);
  assert.deepEqual(wrong, []);
});

test('every variable that pages name is read somewhere', () => {
  const sources = globSync('{src,test,bench,scripts,deploy,training}/**/*.{ts,yaml,py}', { cwd: root });
  const code = [...sources, 'compose.yaml', 'Dockerfile', '.npmrc'].map(read).join('\n');
  const ours =
    /`((?:CARREL|KB|FETCH|RERANKING|EMBEDDING|OPENAI|OLLAMA|FTS|METADATA|RATE_LIMIT|ENABLE|SUMMARY|POSTGRESQL)_[A-Z_]*[A-Z])(?:=[^`]*)?`/g;
  const unknown = pages
    .filter(({ file }) => file !== 'CHANGELOG.md')
    .flatMap(({ file, text }) =>
      [...text.matchAll(ours)].flatMap(([, name = '']) => (code.includes(name) ? [] : [`${file}: ${name}`])),
    );
  assert.deepEqual(unknown, []);
});

test('ARCHITECTURE.md names folders and files that exist', () => {
  const named = [...read('ARCHITECTURE.md').matchAll(/`([a-z][\w-]*(?:\/[\w.-]+)+)`/g)].map(([, path = '']) => path);
  assert.ok(named.length >= 10);
  const missing = named.filter(
    (path) => ![path, `src/${path}`, `src/${path}.ts`].some((each) => existsSync(join(root, each))),
  );
  assert.deepEqual(missing, []);
});

test('pages stay within their length limits', () => {
  const words = (file: string): number => read(file).split(/\s+/).filter(Boolean).length;
  assert.ok(words('README.md') <= 900, 'README.md');
  assert.ok(words('ARCHITECTURE.md') <= 1800, 'ARCHITECTURE.md');
  assert.ok(words('docs/benchmarks.md') <= 1500, 'docs/benchmarks.md');
  const long = read('CHANGELOG.md')
    .split('\n')
    .filter((line) => line.startsWith('- ') && line.length > 100);
  assert.deepEqual(long, []);
});
