import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';
import { commands } from '../commands/commands.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

test('bash completes commands, flags, values of flags and files with spaces in their names', (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'annual report.pdf'), '');
  mkdirSync(join(folder, 'annual folder'));
  const cases: [string[], string[]][] = [
    [['sea'], ['search']],
    [['re'], ['research', 'restore', 'remember']],
    [['search', '--col'], ['--collection']],
    [['search', 'word', '--li'], ['--limit']],
    [['--tra'], ['--transport']],
    [
      ['--transport', ''],
      ['stdio', 'http'],
    ],
    [['jobs', '--status', 'd'], ['done']],
    [['doctor', 'con'], ['context']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['add', 'ann'],
      ['annual folder', 'annual report.pdf'],
    ],
    [['add', '--data-dir', 'ann'], ['annual folder']],
    [['help', 'sea'], ['search']],
    [
      ['init', 'cl'],
      ['claude-code', 'claude-desktop', 'cline'],
    ],
    [['search', '--limit', ''], []],
    [['nonsense', '--'], []],
  ];
  for (const [words, expected] of cases) {
    assert.deepEqual(completeInBash(words, folder).sort(), [...expected].sort(), words.join(' '));
  }
});

test('every script has all commands and flags, and installed shells can parse it', (t) => {
  const folder = makeFolder(t);
  const scripts = { bash: bashCompletion(commands), zsh: zshCompletion(commands), fish: fishCompletion(commands) };
  for (const [shell, script] of Object.entries(scripts)) {
    for (const { name, flags } of commands) {
      assert.ok(script.includes(name), `${shell}: ${name}`);
      for (const flag of flags) assert.match(script, new RegExp(`(--|-l )${flag.name}\\b`), `${shell}: ${flag.name}`);
    }
    const file = join(folder, shell);
    writeFileSync(file, script);
    // All three shells accept `-n`: parse without running.
    const { status, stderr, error } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    if (error === undefined) assert.equal(status, 0, `${shell}: ${stderr}`);
    else t.diagnostic(`${shell} is not installed here`);
  }
});

function completeInBash(words: readonly string[], cwd: string): string[] {
  const script = `${bashCompletion(commands)}
COMP_WORDS=(carrel "$@"); COMP_CWORD=$#
_carrel
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, status, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...words], {
    cwd,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stdout.split('\n').filter((line) => line !== '');
}
