import { consultedFilesChanged } from '../../config/consulted-files.ts';
import type { Config } from '../../config/load.ts';
import { httpSlice, sharingSlice } from '../../config/slices.ts';
import type { Hello, Refusal } from '../../mcp/relay/frames.ts';
import type { OwnerPlace } from './owner-place.ts';
import type { OwnerWord } from './owner-variable.ts';

/** A process that serves several clients on stdio. */
export interface Ownership {
  readonly place: OwnerPlace;
  say(word: OwnerWord): void;
  readonly voice: Voice;
}

/** What people are told goes through the relays of their clients. Until these come it is kept. */
export interface Voice {
  tell(text: string): void;
  toldAtStart(): string;
  handOver(tell: (text: string) => void): void;
}

const toldCharsMax = 100_000;

export function createOwnership(place: OwnerPlace): Ownership {
  let told = '';
  let next: ((text: string) => void) | undefined;
  // The relay that started this process closes its ends when it has heard the word.
  process.stderr.on('error', () => {});
  return {
    place,
    say: (word) => void process.stdout.write(`${word}\n`),
    voice: {
      tell(text) {
        if (next) next(text);
        else if (told.length + text.length <= toldCharsMax) told += text;
      },
      toldAtStart: () => told,
      handOver(tell) {
        next = tell;
      },
    },
  };
}

export function isForSharing(config: Config): boolean {
  return config.of(httpSlice).transport === 'stdio' && !config.of(sharingSlice).alone;
}

/** Why a client needs another process than this one. */
export function refusalOf(config: Config, folder: string, hello: Hello): Refusal | undefined {
  if (consultedFilesChanged()) return 'outdated';
  return config.dependsOnFolder && hello.folder !== folder ? 'elsewhere' : undefined;
}
