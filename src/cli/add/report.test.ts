import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AddEvent } from './add-event.ts';
import { createReporter, embeddingBar, progressBar } from './report.ts';

const added: AddEvent = { event: 'added', path: '/f/a.md', document_id: 1, chunks: 2 };
const failed: AddEvent = { event: 'failed', path: '/f/b.pdf', error: 'It is damaged.' };

const outputs = (isTTY: boolean) => {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  return {
    stdout: { text: () => stdout.join(''), write: (text: string) => stdout.push(text) },
    stderr: { isTTY, columns: 100, text: () => stderr.join(''), write: (text: string) => stderr.push(text) },
  };
};

test('the bar shows files, rate and the remaining time by bytes', () => {
  assert.equal(
    progressBar({ files: 30, bytes: 25e6 }, { files: 120, bytes: 100e6 }, 10),
    '[######------------------] 30/120 files  3.0 files/s  2.5 MB/s  searchable in less than a minute',
  );
  assert.match(progressBar({ files: 1, bytes: 10 }, { files: 9, bytes: 100 }, 7), /searchable in about 1 minute$/);
  assert.match(progressBar({ files: 1, bytes: 10 }, { files: 9, bytes: 100 }, 1_000), /searchable in about 3 hours$/);
  assert.match(embeddingBar(50, 100, 200), /embedding 50\/100 chunks {2}about 3 minutes left$/);
  assert.match(embeddingBar(0, 1, 9), /embedding 0\/1 chunk$/);
});

test('shows no remaining time at the start or after the last file', () => {
  assert.equal(progressBar({ files: 0, bytes: 0 }, { files: 3, bytes: 9 }, 2), `[${'-'.repeat(24)}] 0/3 files`);
  assert.doesNotMatch(progressBar({ files: 1, bytes: 1 }, { files: 9, bytes: 9001 }, 60), /searchable/);
  assert.doesNotMatch(progressBar({ files: 5, bytes: 50 }, { files: 9, bytes: 100 }, 1), /searchable/);
  assert.doesNotMatch(progressBar({ files: 3, bytes: 9 }, { files: 3, bytes: 9 }, 20), /searchable/);
});

test('on a terminal the bar shows successes and lines show failures', () => {
  const { stdout, stderr } = outputs(true);
  const reporter = createReporter(false, { stdout, stderr });
  reporter.report(added);
  reporter.progress({ files: 1, bytes: 1 }, { files: 2, bytes: 2 });
  reporter.report(failed);
  reporter.end();
  assert.equal(stdout.text(), 'failed /f/b.pdf: It is damaged.\n');
  assert.match(stderr.text(), /1\/2 files/);
  assert.ok(stderr.text().endsWith('\r\u001b[K'), 'the bar is taken away');
});

test('without a terminal there are plain lines and no bar', () => {
  const { stdout, stderr } = outputs(false);
  const reporter = createReporter(false, { stdout, stderr });
  reporter.report(added);
  reporter.progress({ files: 1, bytes: 1 }, { files: 2, bytes: 2 });
  reporter.report(failed);
  reporter.end();
  assert.equal(stdout.text(), 'added /f/a.md (document 1, 2 chunks)\nfailed /f/b.pdf: It is damaged.\n');
  assert.equal(stderr.text(), '');
});

test("a file name can't move the cursor or break the line", () => {
  const { stdout, stderr } = outputs(false);
  createReporter(false, { stdout, stderr }).report({ ...failed, path: '/f/\u001b[2J\nadded /f/x\u202e.pdf' });
  assert.equal(stdout.text(), 'failed /f/\ufffd[2J added /f/x\ufffd.pdf: It is damaged.\n');
});

test('with --json, each event is a line of JSON', () => {
  const { stdout, stderr } = outputs(true);
  const reporter = createReporter(true, { stdout, stderr });
  reporter.report(added);
  reporter.progress({ files: 1, bytes: 1 }, { files: 2, bytes: 2 });
  assert.deepEqual(JSON.parse(stdout.text()), added);
  assert.equal(stderr.text(), '');
});

test('the summary groups failures and duplicates by reason, with three files each', () => {
  const { stdout, stderr } = outputs(true);
  const reporter = createReporter(false, { stdout, stderr });
  const skipped = { hidden: 0, packages: 0, links: 0, empty: 0, special: 0, excluded: 0, ignored: 0 };
  reporter.report({ event: 'found', files: 7, bytes: 9e6, passed_over: skipped });
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    reporter.report({ event: 'failed', path: `/f/${name}.pdf`, error: `It is damaged at byte ${name.length}.` });
  }
  reporter.report({ event: 'failed', path: '/f/x.doc', error: 'It has a password.' });
  reporter.report({ event: 'duplicate', path: '/f/y.md', document_id: 4, title: null });
  reporter.end();
  reporter.report({ event: 'summary', added: 0, duplicates: 1, failed: 6, seconds: 1, pending: 0 });
  assert.deepEqual(stdout.text().split('\n'), [
    '7 files, 9.0 MB',
    '5 failed: It is damaged at byte 1.',
    '  /f/a.pdf',
    '  /f/b.pdf',
    '  /f/c.pdf',
    '  and 2 more',
    '1 failed: It has a password.',
    '  /f/x.doc',
    '1 already stored (same bytes)',
    '  /f/y.md (document 4)',
    '0 added, 1 already there, 6 failed, 1.0 s',
    '',
  ]);
});

test('reports each truncated file, even on a terminal', () => {
  const { stdout, stderr } = outputs(true);
  const truncated = { reason: 'cpu_time', read: 800, of: 1_156, unit: 'pages' };
  createReporter(false, { stdout, stderr }).report({ ...added, truncated });
  assert.equal(
    stdout.text(),
    'added /f/a.md (document 1, 2 chunks): only 800 of 1156 pages were read; raise KB_EXTRACT_CPU_MS and add it again\n',
  );
});
