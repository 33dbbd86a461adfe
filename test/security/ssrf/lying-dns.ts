import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import ipaddr from 'ipaddr.js';

/** A name's answer to its n-th question of a type, counted from 0. */
export type Lie = (question: number) => DnsAnswer;

export interface DnsAnswer {
  addresses?: readonly string[];
  /** Answers with this alias first, and the addresses under it. */
  alias?: string;
  /** 2 is SERVFAIL, 3 is NXDOMAIN. */
  code?: number;
  isSilent?: boolean;
}

/** A name server on UDP with configured answers, different each time if needed, with a TTL of 0. */
export async function startLyingDns(address: string, lies: ReadonlyMap<string, Lie>): Promise<Socket> {
  const questions = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (message, sender) => {
    const { name, type } = readQuestion(message);
    const key = `${name} ${type}`;
    const count = questions.get(key) ?? 0;
    questions.set(key, count + 1);
    const answer = lies.get(name)?.(count) ?? { code: 3 };
    if (!answer.isSilent) socket.send(writeAnswer(message, type, answer), sender.port, sender.address);
  });
  socket.bind(53, address);
  await once(socket, 'listening');
  return socket;
}

const typeA = 1;
const typeCname = 5;
const typeAaaa = 28;
const headerBytes = 12;

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function writeAnswer(query: Buffer, type: number, { addresses = [], alias, code = 0 }: DnsAnswer): Buffer {
  const owner = alias === undefined ? questionPointer : encodeName(alias);
  const records = addresses
    .map((address) => Buffer.from(ipaddr.parse(address).toByteArray()))
    .filter((bytes) => (bytes.byteLength === 4 ? typeA : typeAaaa) === type)
    .map((bytes) => record(owner, type, bytes));
  if (alias !== undefined) records.unshift(record(questionPointer, typeCname, encodeName(alias)));
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, query.subarray(headerBytes, readQuestion(query).end), ...records]);
}

const questionPointer = Buffer.from([0xc0, headerBytes]);

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.byteLength, 8);
  return Buffer.concat([owner, fixed, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}
