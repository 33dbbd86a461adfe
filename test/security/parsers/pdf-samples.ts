import { createHash } from 'node:crypto';
import { pdfOf, stream } from './bombs.ts';

const padding = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');

/** A PDF with a password: standard security handler, revision 2, 40 bits (ISO 32000-1, 7.6.3). */
export function encryptedPdf(): Buffer {
  const id = Buffer.alloc(16, 7);
  const permissions = Buffer.from([0xfc, 0xff, 0xff, 0xff]);
  const user = padded('secret');
  const owner = rc4(md5(padded('owner')).subarray(0, 5), user);
  const key = md5(Buffer.concat([user, owner, permissions, id])).subarray(0, 5);
  const entries = `/Filter /Standard /V 1 /R 2 /O <${owner.toString('hex')}> /U <${rc4(key, padding).toString('hex')}> /P -4`;
  const trailer = `/Encrypt << ${entries} >> /ID [<${id.toString('hex')}> <${id.toString('hex')}>] `;
  return pdfOf([stream(Buffer.from('BT /F1 12 Tf (x) Tj ET'))], 1, trailer);
}

function padded(password: string): Buffer {
  return Buffer.concat([Buffer.from(password), padding]).subarray(0, 32);
}

function md5(data: Buffer): Buffer {
  return createHash('md5').update(data).digest();
}

/** Implemented here, because some OpenSSL builds omit the cipher. */
function rc4(key: Buffer, data: Buffer): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const at = (index: number) => state[index & 255] ?? 0;
  const swap = (left: number, right: number) => {
    [state[left], state[right]] = [at(right), at(left)];
  };
  let other = 0;
  for (let index = 0; index < 256; index += 1) {
    other = (other + at(index) + (key[index % key.length] ?? 0)) & 255;
    swap(index, other);
  }
  let first = 0;
  other = 0;
  return Buffer.from(
    data.map((byte) => {
      first = (first + 1) & 255;
      other = (other + at(first)) & 255;
      swap(first, other);
      return byte ^ at(at(first) + at(other));
    }),
  );
}
