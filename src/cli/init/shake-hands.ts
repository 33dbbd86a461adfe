import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CarrelError } from '../../base/errors.ts';
import type { Launch } from './clients.ts';
import { type Greeting, initialize, initialized, isRecord, listTools, parsed, readGreeting } from './greeting.ts';

const timeoutMs = 60_000;

/** Starts the command as a client would, with the little environment that one gives, and ends it again. */
export async function shakeHands({ command, args }: Launch): Promise<Greeting> {
  const startedAt = performance.now();
  const child = spawn(command, args, { env: bareEnvironment(process.platform, process.env), stdio: 'pipe' });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2000);
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<never>((_, reject) => {
    const fail = (): void => reject(notStarted([command, ...args].join(' '), complaint));
    child.once('error', fail);
    child.once('close', fail);
  });
  ended.catch(() => {});
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (message: { id: number }): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    for (;;) {
      const { value, done } = await Promise.race([lines.next(), ended]);
      if (done) return ended;
      const answer = parsed(value);
      if (isRecord(answer) && answer['id'] === message.id) return answer['result'];
    }
  };
  try {
    const greeting = await ask(initialize);
    child.stdin.write(`${JSON.stringify(initialized)}\n`);
    return readGreeting(greeting, await ask(listTools), startedAt);
  } finally {
    clearTimeout(timer);
    const closed = new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) resolve();
      else child.once('close', () => resolve());
    });
    child.stdin.end();
    const killer = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await closed;
    clearTimeout(killer);
  }
}

/** What programs with windows start others with: no shell has set anything. */
export function bareEnvironment(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const windows = [
    'SystemRoot',
    'SystemDrive',
    'USERPROFILE',
    'HOMEDRIVE',
    'HOMEPATH',
    'APPDATA',
    'LOCALAPPDATA',
    'TEMP',
    'TMP',
    'PATHEXT',
  ];
  const kept = platform === 'win32' ? windows : ['HOME', 'USER', 'LOGNAME', 'LANG', 'TMPDIR'];
  const own = kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const path =
    platform === 'win32' ? `${env['SystemRoot'] ?? 'C:\\Windows'}\\System32` : '/usr/bin:/bin:/usr/sbin:/sbin';
  return { ...Object.fromEntries(own), PATH: path };
}

function notStarted(command: string, complaint: string): CarrelError {
  // Its own words: it is this program that was started.
  const why = complaint.trim().split('\n').at(-1) ?? '';
  return new CarrelError(
    'unavailable',
    `The server does not start with ${command}: ${why || 'it said nothing'}. Nothing was changed.`,
  );
}
