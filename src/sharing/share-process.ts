import { createLogger, type Logger, type LogSink } from '../base/log.ts';
import { version } from '../base/package-info.ts';
import { consultedFilesChanged } from '../config/consulted-files.ts';
import type { Config } from '../config/load.ts';
import { httpSlice, sharingSlice } from '../config/slices.ts';
import { createServeClient, type ServeOptions } from '../mcp/serve.ts';
import type { OwnerState } from './find-owner.ts';
import type { Hello, Refusal, ServedData } from './frames.ts';
import { type Announcement, announce, type OwnerFiles, prepareAnnouncement, sweep, withdraw } from './owner-files.ts';
import { type RelayService, serveRelays } from './serve-relays.ts';

/** Files and output of an owner, the shared process that serves several stdio clients. */
export interface Ownership {
  readonly files: OwnerFiles;
  reportState(word: OwnerState): void;
  readonly userOutput: UserOutput;
}

/** Messages for the users of all clients. They are buffered until `connect`. */
export interface UserOutput {
  print(text: string): void;
  outputAtStart(): string;
  /** Sends further messages to `print`. */
  connect(print: (text: string) => void): void;
}

const outputCharsMax = 100_000;

export function createOwnership(files: OwnerFiles): Ownership {
  let output = '';
  let next: ((text: string) => void) | undefined;
  // The relay that started this process closes its pipes after the first line.
  process.stderr.on('error', () => {});
  return {
    files,
    reportState: (word) => void process.stdout.write(`${word}\n`),
    userOutput: {
      print(text) {
        if (next) next(text);
        else if (output.length + text.length <= outputCharsMax) output += text;
      },
      outputAtStart: () => output,
      connect(print) {
        next = print;
      },
    },
  };
}

export function isForSharing(config: Config): boolean {
  return config.of(httpSlice).transport === 'stdio' && !config.of(sharingSlice).alone;
}

export interface SharedProcess extends ServeOptions {
  config: Config;
  roleName: string;
  /** Identifies the data and settings. This process may answer commands with the same key. */
  commandKey?: string | undefined;
  /** The source of answers; `carrel serve` only. */
  servedData?: ServedData | undefined;
  /** How long to keep running without clients. Undefined: until closed. */
  idleMs: number | undefined;
  /** The log file. */
  file: LogSink;
  /** Creates the sink for messages to users. */
  createUserSink(print: (text: string) => void): LogSink;
  log: Logger;
}

/**
 * Serves clients through relays. Calls `ready` before relays can connect. Returns undefined if this process isn't needed or
 * can't be shared. The relay that started it gets the reason.
 */
export async function shareProcess(
  { files, reportState, userOutput }: Ownership,
  shared: SharedProcess,
  ready: () => void,
): Promise<RelayService | undefined> {
  const { config, roleName, commandKey, log, features, limits } = shared;
  const folder = process.cwd();
  const tools = features.catalogue.toolsets.flatMap((toolset) => toolset.tools);
  const readOnlyTools = tools.filter(({ effect }) => effect === 'read').map(({ name }) => name);
  let announcement: Announcement | undefined;
  let service: RelayService;
  try {
    const prepared = prepareAnnouncement(files, { role: roleName, version, commandKey });
    announcement = prepared;
    service = await serveRelays({
      socketPath: prepared.socket,
      secret: prepared.secret,
      welcome: { pid: process.pid, bytesMax: limits.bytesMax, readOnlyTools, data: shared.servedData },
      refusal: (hello) => refusalOf(config, folder, hello),
      serveLines: createServeClient(shared),
      createLog: (client, print) =>
        createLogger([shared.file, shared.createUserSink(print)], { role: roleName, client }),
      outputAtStart: userOutput.outputAtStart,
      log: features.log,
      idleMs: shared.idleMs,
      leave: () => withdraw(files, prepared),
    });
    if (!(await announce(files, prepared))) {
      await service.close(0);
      reportState('other');
      return undefined;
    }
  } catch (error) {
    log.warn('cannot share this process with other clients', { error });
    if (announcement !== undefined) withdraw(files, announcement);
    reportState('alone');
    return undefined;
  }
  ready();
  userOutput.connect((text) => service.print(text));
  reportState('ready');
  void sweep(files.folder);
  return service;
}

/** Returns the reason if this process can't serve the client. */
function refusalOf(config: Config, folder: string, hello: Hello): Refusal | undefined {
  if (consultedFilesChanged()) return 'outdated';
  return config.dependsOnFolder && hello.folder !== folder ? 'elsewhere' : undefined;
}
