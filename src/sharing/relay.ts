import { randomUUID } from 'node:crypto';
import { isatty } from 'node:tty';
import { exitCodes } from '../base/exit-codes.ts';
import { createOwnerFinder, ownerLocation } from './find-owner.ts';
import { isPrivateFolder, ownerFiles } from './owner-files.ts';
import { processKey, readSharingFacts } from './process-key.ts';
import { relayLines } from './relay-lines.ts';

export interface RelayRequest {
  argv: readonly string[];
  command: string;
  /** The command-line flags. */
  values: Readonly<Record<string, unknown>>;
}

/** Max time from a signal to the exit: SIGTERM must end the process within five seconds. */
const stopMs = 4_500;

/** Roles whose clients may share a process. */
const sharedRoles: readonly string[] = ['serve', 'context', 'research', 'kb'];

/**
 * True if this process may relay to a shared process instead of serving itself. False on a terminal, and on Windows, where a
 * folder of sockets can't be protected.
 */
export function mayShare({ command, values: { alone, help, version } }: Omit<RelayRequest, 'argv'>): boolean {
  return !isSharingDisabled() && sharedRoles.includes(command) && !alone && !help && !version && !isatty(0);
}

/** True if the environment or the operating system forbids sharing. */
export function isSharingDisabled(): boolean {
  return process.platform === 'win32' || !/^(false|0|no|off)?$/i.test(process.env['CARREL_ALONE']?.trim() ?? '');
}

/** Relays stdin and stdout to the shared process. If that is impossible, returns with an optional remark for the log. */
export async function relayStdio({ argv, command, values }: RelayRequest): Promise<'relayed' | { remark?: string }> {
  const { env } = process;
  const facts = readSharingFacts();
  const role = facts.roles[command];
  if (role === undefined) return {};
  const variable = role.transportVariables.map((name) => env[name]).find((value) => value);
  const transport = values['transport'] ?? variable ?? role.transport;
  const location = transport === 'stdio' ? ownerLocation(values) : undefined;
  if (location === undefined) return {};
  const { folder, paths } = location;
  if (isPrivateFolder(folder) === false) {
    return { remark: `not sharing: ${folder} must be a folder owned by you with mode 0700` };
  }
  const args = argv.toSpliced(argv.indexOf(command), argv.includes(command) ? 1 : 0);
  const files = ownerFiles(folder, processKey({ facts, command, args, paths, env }));

  const finder = createOwnerFinder(files, argv, randomUUID());
  let stop = (): void => {
    finder.stop();
    process.exit(exitCodes.ok);
  };
  const onSignal = (): void => stop();
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  const outcome = await finder.find();
  if (outcome.kind === 'alone') {
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
    return outcome.remark === undefined ? {} : { remark: outcome.remark };
  }
  if (outcome.kind === 'failed') {
    process.exitCode = outcome.code;
    return 'relayed';
  }
  const relay = relayLines(outcome.link, finder, process.stdin, process.stdout, process.stderr);
  stop = () => {
    setTimeout(() => process.exit(exitCodes.ok), stopMs).unref();
    relay.end();
  };
  const code = await relay.ended;
  // Nothing is left to do, but open handles would keep the process alive.
  process.exit(code);
}
