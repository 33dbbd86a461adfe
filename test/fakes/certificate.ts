import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/**
 * Creates a self-signed certificate for these DNS names and IPv4 addresses, so that the repository contains no keys and none can
 * expire. The format is X.509 v3 (RFC 5280) in DER, with the extensions that verifiers require.
 */
export function createCertificate(names: readonly string[]): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const name = sequence(set(sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from('carrel test')))));
  const publicKeyInfo = publicKey.export({ type: 'spki', format: 'der' });
  const unsigned = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    name,
    sequence(utcTime('250101000000Z'), utcTime('491231235959Z')),
    name,
    publicKeyInfo,
    der(
      0xa3,
      sequence(
        extension(basicConstraints, sequence(der(0x01, Buffer.from([0xff])))),
        extension(subjectAltName, sequence(...names.map(alternativeName))),
        extension(subjectKeyIdentifier, der(0x04, createHash('sha1').update(publicKeyInfo).digest())),
      ),
    ),
  );
  const signature = sign('sha256', unsigned, privateKey);
  const certificate = sequence(unsigned, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.byteLength)]), content]);
}

function lengthBytes(length: number): number[] {
  if (length < 128) return [length];
  return length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function sequence(...parts: Uint8Array[]): Buffer {
  return der(0x30, ...parts);
}

function set(...parts: Uint8Array[]): Buffer {
  return der(0x31, ...parts);
}

function oid(...bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function integer(bytes: Uint8Array): Buffer {
  return der(0x02, bytes);
}

function utcTime(text: string): Buffer {
  return der(0x17, Buffer.from(text));
}

const [subjectKeyIdentifier, subjectAltName, basicConstraints] = [14, 17, 19];

/** Encodes an extension whose OID is 2.5.29.`number`. */
function extension(number: number, value: Buffer): Buffer {
  return sequence(oid(0x55, 0x1d, number), der(0x04, value));
}

function alternativeName(name: string): Buffer {
  const isAddress = /^[\d.]+$/.test(name);
  return isAddress ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name));
}
