import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ownerKey, readSharingFacts } from '../app/owner/owner-key.ts';
import { isPrivateFolder, ownerFolder, ownerPlace } from '../app/owner/owner-place.ts';
import { dataDirOf } from '../config/data-dir.ts';
import { exitCodes } from './exit-codes.ts';
import { createOwnerFinder } from './relay/find-owner.ts';
import { relayLines } from './relay/relay-lines.ts';
import type { Start } from './role.ts';

export interface RelayRequest {
  argv: readonly string[];
  command: string;
  /** Flags, as far as they matter here. */
  values: Readonly<Record<string, unknown>>;
}

/** SIGTERM must end the process within five seconds. */
const stopMs = 4_500;

/** Relays this process's streams to the process that serves all clients like this one. Else: how to serve it here. */
export async function relayStdio({ argv, command, values }: RelayRequest): Promise<'relayed' | Start> {
  const { env } = process;
  const facts = readSharingFacts();
  const role = facts.roles[command];
  if (role === undefined) return {};
  const variable = role.transportVariables.map((name) => env[name]).find((value) => value);
  const transport = values['transport'] ?? variable ?? role.transport;
  const { config, 'data-dir': dataDirFlag } = values;
  if (transport !== 'stdio' || config === true || dataDirFlag === true) return {};
  // A pipe such as /dev/fd/63 can be read once, and only by the process that was given it.
  if (text(config) !== undefined && !isFile(String(config))) return {};
  const dataDir = dataDirOf(text(dataDirFlag), env);
  const folder = ownerFolder(dataDir, env);
  if (isPrivateFolder(folder) === false) {
    return { remark: `serving one client alone: ${folder} must be a folder of yours with mode 0700 to be shared` };
  }
  const args = argv[0] === command ? argv.slice(1) : argv;
  const paths = [dataDir, text(config) && resolve(String(config)), role.readsFolder ? process.cwd() : undefined];
  const place = ownerPlace(folder, ownerKey({ facts, command, args, paths, env }));

  const finder = createOwnerFinder(place, argv, randomUUID());
  let stop = (): void => {
    finder.stop();
    process.exit(exitCodes.fine);
  };
  const onSignal = (): void => stop();
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  const found = await finder.find();
  if (found.kind === 'alone') {
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
    return found.remark === undefined ? {} : { remark: found.remark };
  }
  if (found.kind === 'failed') {
    process.exitCode = found.code;
    return 'relayed';
  }
  const relaying = relayLines(found.link, finder, process.stdin, process.stdout, process.stderr);
  stop = () => {
    setTimeout(() => process.exit(exitCodes.fine), stopMs).unref();
    relaying.end();
  };
  const code = await relaying.ended;
  // Whatever still keeps the loop alive has nothing left to do.
  process.exit(code);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
