import assert from 'node:assert/strict';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { makeFolder } from '../../test/support/child-program.ts';
import { createLogger, formatRecord, type LogRecord } from './log.ts';
import { createFileSink } from './log-sinks.ts';
import { Secret } from './secret.ts';

function record(event: string, fields: Record<string, unknown> = {}): LogRecord {
  return { time: new Date(0), level: 'info', event, fields };
}

test('masks a secret however it is formatted', () => {
  const secret = new Secret('hunter2-hunter2');
  for (const text of [`${secret}`, JSON.stringify({ secret }), inspect({ secret }), String(secret)]) {
    assert.equal(text.includes('hunter2'), false, text);
  }
  assert.equal(secret.reveal(), 'hunter2-hunter2');
});

test('removes quoted secrets from log lines, URL-encoded ones included', () => {
  new Secret('p@ss word/1');
  const line = formatRecord(record('failed', { error: new Error('GET /?key=p%40ss%20word%2F1 with p@ss word/1') }));
  assert.equal(line.includes('p@ss word/1'), false, line);
  assert.equal(line.includes('p%40ss%20word%2F1'), false, line);
});

test('writes each event as one line, even if its values have line breaks', () => {
  const line = formatRecord(record('read', { title: 'a\nb\u2028c\u001b[31m', url: 'http://a/b' }));
  assert.equal(/[\n\u2028\u001b]/.test(line), false);
  assert.ok(line.includes('url=http://a/b'), line);
});

test('logs the whole error under an incident id and gives the caller only the id', (t) => {
  const folder = makeFolder(t);
  const log = createLogger([createFileSink({ file: join(folder, 'log', 'carrel.log'), level: 'info' })]);
  const incident = log.incident('it broke', new Error('inner detail'));
  const text = readFileSync(join(folder, 'log', 'carrel.log'), 'utf8');
  assert.ok(text.includes(incident) && text.includes('inner detail'));
  assert.equal(statSync(join(folder, 'log', 'carrel.log')).mode & 0o777, 0o600);
});

test('rotates a log file at its size limit and keeps a bounded number of old files', (t) => {
  const folder = makeFolder(t);
  const sink = createFileSink({ file: join(folder, 'a.log'), level: 'info', bytesMax: 300, filesMax: 2 });
  for (let index = 0; index < 30; index += 1) {
    sink.write(record(`event number ${index} with some length to it`));
    sink.flush();
  }
  assert.deepEqual(readdirSync(folder).sort(), ['a.log', 'a.log.1', 'a.log.2']);
  for (const file of readdirSync(folder)) assert.ok(statSync(join(folder, file)).size <= 300);
  assert.ok(readFileSync(join(folder, 'a.log'), 'utf8').includes('event number 29'));
});

test('recreates a log file that was removed or moved', (t) => {
  const folder = makeFolder(t);
  const file = join(folder, 'log', 'a.log');
  const sink = createFileSink({ file, level: 'info' });
  const write = (event: string) => {
    sink.write(record(event));
    sink.flush();
  };
  write('first');
  renameSync(file, `${file}.1`);
  write('second');
  assert.match(readFileSync(file, 'utf8'), /^[^\n]* second\n$/);
  rmSync(join(folder, 'log'), { recursive: true });
  write('third');
  assert.match(readFileSync(file, 'utf8'), /^[^\n]* third\n$/);
});

test('leaves other files alone if the log file cannot be rotated', (t) => {
  const folder = makeFolder(t);
  const sink = createFileSink({ file: join(folder, 'log', 'a.log'), level: 'info', bytesMax: 10 });
  const write = () => {
    sink.write(record('a line'));
    sink.flush();
  };
  write();
  // A non-empty folder in place of the oldest log: it can neither be removed nor replaced.
  mkdirSync(join(folder, 'log', 'a.log.3', 'full'), { recursive: true });
  write();
  // This file gets the descriptor number of the closed log.
  const other = openSync(join(folder, 'other'), 'w');
  t.after(() => closeSync(other));
  write();
  write();
  writeSync(other, 'mine');
  assert.equal(readFileSync(join(folder, 'other'), 'utf8'), 'mine');
});
