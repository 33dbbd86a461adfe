import { createLogger, type Logger, type LogSink } from '../../base/log.ts';
import { version } from '../../base/package-info.ts';
import type { Config } from '../../config/load.ts';
import { sharingSlice } from '../../config/slices.ts';
import type { RelayService } from '../../mcp/relay/serve-relays.ts';
import type { RelaysServing, serveOverRelays } from '../../mcp/serve.ts';
import { leaveFolder } from '../leave-folder.ts';
import { type Announcement, announce, prepareAnnouncement, sweep, withdraw } from './owner-place.ts';
import { type Ownership, refusalOf } from './ownership.ts';

export interface SharedProgram extends Pick<RelaysServing, 'offer' | 'revisions' | 'limits'> {
  config: Config;
  roleName: string;
  /** Where the log goes besides to people. */
  file: LogSink;
  /** The sink for people, whose lines go where it is told. */
  people(tell: (text: string) => void): LogSink;
  log: Logger;
}

/** Serves clients through relays. Undefined: it is not needed, or not possible, and whoever started it was told. */
export async function shareProgram(
  ownership: Ownership,
  shared: SharedProgram,
  serve: typeof serveOverRelays,
): Promise<RelayService | undefined> {
  const { place, say, voice } = ownership;
  const { config, roleName, log } = shared;
  const folder = process.cwd();
  let announcement: Announcement | undefined;
  let service: RelayService;
  try {
    const own = prepareAnnouncement(place, { role: roleName, version });
    announcement = own;
    service = await serve({
      ...shared,
      socketPath: own.socket,
      secret: own.secret,
      refusal: (hello) => refusalOf(config, folder, hello),
      createLog: (client, tell) => createLogger([shared.file, shared.people(tell)], { role: roleName, client }),
      saidAtStart: voice.toldAtStart,
      idleMs: config.of(sharingSlice).idleSeconds * 1000,
      leave: () => withdraw(place, own),
    });
    if (!(await announce(place, own))) {
      await service.close();
      say('other');
      return undefined;
    }
  } catch (error) {
    log.warn('this process cannot be shared, and serves one client alone', { error });
    if (announcement !== undefined) withdraw(place, announcement);
    say('alone');
    return undefined;
  }
  leaveFolder(config);
  voice.handOver((text) => service.tell(text));
  say('ready');
  void sweep(place.folder);
  return service;
}
