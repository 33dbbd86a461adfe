import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import { commonHeaders } from '../http/respond.ts';
import { iconSprite } from './parts/icons.ts';

const types: ReadonlyMap<string, string> = new Map([
  ['console.css', 'text/css; charset=utf-8'],
  ['console.js', 'text/javascript; charset=utf-8'],
  ['icon.svg', 'image/svg+xml'],
  ['icons.svg', 'image/svg+xml'],
]);

interface Asset {
  bytes: Buffer;
  compressed: Buffer;
}

let known: { assets: ReadonlyMap<string, Asset>; version: string } | undefined;

/** Reads and compresses the assets once, for the first page. The bundled script is missing only before a build. */
function loaded(): NonNullable<typeof known> {
  if (known) return known;
  const hash = createHash('sha256');
  const assets = new Map<string, Asset>();
  for (const name of types.keys()) {
    const file = new URL(`./assets/${name}`, import.meta.url);
    const made = name === 'icons.svg' ? iconSprite : '';
    const bytes = existsSync(file) ? readFileSync(file) : Buffer.from(made);
    hash.update(bytes);
    assets.set(name, { bytes, compressed: gzipSync(bytes) });
  }
  known = { assets, version: hash.digest('hex').slice(0, 12) };
  return known;
}

/** Part of the assets' URLs: a new version makes browsers reload them. */
export function assetsVersion(): string {
  return loaded().version;
}

/** Returns false for an unknown asset. */
export function sendAsset(
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
  headers: Record<string, string>,
): boolean {
  const type = types.get(name);
  const asset = loaded().assets.get(name);
  if (type === undefined || asset === undefined) return false;
  const isCompressed = acceptsGzip(request);
  const bytes = isCompressed ? asset.compressed : asset.bytes;
  response.writeHead(200, {
    ...commonHeaders,
    ...headers,
    // The URL contains the version, so it never goes stale.
    ...(request.url?.includes('?') ? { 'cache-control': 'public, max-age=31536000, immutable' } : {}),
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    vary: 'accept-encoding',
    'content-type': type,
    'content-length': bytes.length,
  });
  response.end(bytes);
  return true;
}

const gzipAside = promisify(gzip);
/** Shorter pages are sent uncompressed. */
const compressedBytesMin = 1_400;

/** Sends a page, compressed on another thread. */
export async function sendHtml(
  status: number,
  markup: string,
  request: IncomingMessage,
  response: ServerResponse,
  headers: Record<string, string>,
): Promise<void> {
  const plain = Buffer.from(markup);
  const isCompressed = acceptsGzip(request) && plain.length >= compressedBytesMin;
  const bytes = isCompressed ? await gzipAside(plain, { level: 4 }) : plain;
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    ...commonHeaders,
    ...headers,
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    vary: 'accept-encoding',
    'content-type': 'text/html; charset=utf-8',
    'content-length': bytes.length,
  });
  response.end(bytes);
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(headers['accept-encoding'] ?? ''));
}
