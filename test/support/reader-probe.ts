/** Tries everything that a document reader process must not be able to do, as a hostile document would. Reports what succeeded. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

const [folder = '', port = ''] = process.argv.slice(2);

function can(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

const connects = await new Promise<boolean>((resolve) => {
  try {
    const socket = connect(Number(port), '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
  } catch {
    resolve(false);
  }
});

process.send?.({
  ownProgram: can(() => readFileSync(new URL(import.meta.url))),
  read: can(() => readFileSync(join(folder, '.ssh', 'id_ed25519'))),
  list: can(() => readdirSync(folder)),
  proc: can(() => readFileSync('/proc/1/environ')) || can(() => readFileSync(`/proc/${process.ppid}/environ`)),
  write: can(() => writeFileSync(join(folder, 'planted'), 'x')),
  start: can(() => {
    if (spawnSync(process.execPath, ['--version']).status !== 0) throw new Error('not started');
  }),
  addon: can(() => process.dlopen({ exports: {} }, '/lib/none.node')),
  environment: Object.keys(process.env).filter((name) => !/^NODE_(COMPILE_CACHE|CHANNEL_)/.test(name)),
  connects,
});
