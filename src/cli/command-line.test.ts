import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommandLine } from './command-line.ts';
import { commands } from './commands/commands.ts';
import { commandHelp, helpText } from './help.ts';

const refused = (argv: string[]): string => {
  try {
    parseCommandLine(argv);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return '';
};

test('suggests the closest command or flag', () => {
  assert.match(refused(['serach', 'x']), /unknown command "serach"\. Did you mean search\?/);
  assert.match(refused(['add', '.', '--colection', 'a']), /unknown flag "--colection"\. Did you mean --collection\?/);
  assert.match(refused(['--redonly']), /Did you mean --read-only\?/);
  assert.doesNotMatch(refused(['frobnicate']), /Did you mean/);
  assert.match(refused(['kb', '--toolsets', 'kb']), /unknown flag "--toolsets"/);
  // A flag of another command is not suggested.
  assert.doesNotMatch(refused(['get', 'x', '--watch']), /Did you mean/);
});

test('accepts short flags, words after -- and values that start with a dash', () => {
  assert.equal(parseCommandLine(['-h']).flags['help'], true);
  assert.equal(parseCommandLine(['-v']).flags['version'], true);
  assert.deepEqual(parseCommandLine(['search', '--', '--limit', 'of']).args, ['--limit', 'of']);
  assert.match(refused(['search', 'x', '--limit', '--json']), /--limit needs a value/);
  assert.match(refused(['--port']), /--port needs a value/);
  for (const argv of [['--data-dir='], ['--config', '']]) assert.match(refused(argv), /needs a value/);
  assert.match(refused(['--read-only=yes']), /--read-only/);
});

test('names a missing argument, except with --help', () => {
  assert.match(refused(['search']), /carrel search needs a query/);
  assert.match(refused(['import']), /carrel import needs the file to read/);
  assert.equal(parseCommandLine(['search', '--help']).flags['help'], true);
  for (const name of ['bench', 'serve']) assert.match(refused([name, 'something']), /unexpected argument/);
  for (const name of ['add', 'backup', 'restore', 'export', 'import']) {
    assert.match(refused([name, '']), /an empty argument is not a file name/);
  }
});

test('help lists every command, and the flags of each', () => {
  const all = helpText();
  for (const { name, flags, summary } of commands) {
    assert.ok(all.includes(summary), name);
    const one = commandHelp(name);
    for (const flag of flags) assert.ok(one.includes(`--${flag.name}`), `${name} ${flag.name}`);
  }
  assert.throws(() => commandHelp('serach'), /Did you mean search\?/);
});

test('a command has each flag once, and a flag takes the same value in every command', () => {
  const kinds = new Map<string, string>();
  for (const { name, flags } of commands) {
    assert.equal(new Set(flags.map((flag) => flag.name)).size, flags.length, name);
    for (const { name: flag, type, value } of flags) {
      // The version of a documented library: contract §9. Shells complete nothing for either.
      if (name === 'add' && flag === 'version') continue;
      const kind = `${type} ${value}`;
      assert.equal(kinds.get(flag) ?? kind, kind, `${name} ${flag}`);
      kinds.set(flag, kind);
    }
  }
});

test('common flags may precede the command', () => {
  for (const argv of [
    ['--data-dir', 'x', 'doctor'],
    ['--data-dir=x', '--debug', 'doctor'],
    ['doctor', '--data-dir', 'x'],
  ]) {
    const { command, args, flags } = parseCommandLine(argv);
    assert.deepEqual([command, args, flags['data-dir']], ['doctor', [], 'x'], argv.join(' '));
  }
  assert.equal(parseCommandLine(['--data-dir', 'x']).command, 'serve');
  assert.equal(parseCommandLine(['--data-dir', 'x', '--port', '0']).command, 'serve');
  assert.throws(() => parseCommandLine(['--data-dir', 'x', 'doktor']), /unknown command "doktor"/);
});
