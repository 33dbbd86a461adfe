import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { commonHeaders } from '../http/respond.ts';
import { iconSprite } from './parts/icons.ts';

const types: ReadonlyMap<string, string> = new Map([
  ['console.css', 'text/css; charset=utf-8'],
  ['console.js', 'text/javascript; charset=utf-8'],
  ['icon.svg', 'image/svg+xml'],
  ['icons.svg', 'image/svg+xml'],
  ['pdf.js', 'text/javascript; charset=utf-8'],
  ['pdf-worker.js', 'text/javascript; charset=utf-8'],
]);

/** Headers of every answer of the console. They allow only its own scripts and the worker of pdf.js. */
export const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types pdf-worker",
  'x-frame-options': 'DENY',
  // With `no-referrer`, browsers would send the console's own forms with `Origin: null`.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

interface Asset {
  bytes: Buffer;
  compressed?: Promise<Buffer>;
}

let cache: { assets: ReadonlyMap<string, Asset>; version: string } | undefined;

/** Reads the assets once, when the first page needs them. Before a build, the bundled scripts are missing. */
function loadAssets(): NonNullable<typeof cache> {
  if (cache) return cache;
  const hash = createHash('sha256');
  const assets = new Map<string, Asset>();
  for (const name of types.keys()) {
    const file = new URL(`./assets/${name}`, import.meta.url);
    const generated = name === 'icons.svg' ? iconSprite : '';
    const bytes = existsSync(file) ? readFileSync(file) : Buffer.from(generated);
    hash.update(bytes);
    assets.set(name, { bytes });
  }
  cache = { assets, version: hash.digest('hex').slice(0, 12) };
  return cache;
}

/** Returns the version in the assets' URLs. A new version makes browsers reload them. */
export function assetsVersion(): string {
  return loadAssets().version;
}

/** The policy of the pdf.js worker, which compiles image decoders. Pages have a stricter one. */
const workerPolicy = "default-src 'none'; script-src 'wasm-unsafe-eval'";

/** Sends an asset. Returns false if it is unknown. */
export async function sendAsset(name: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const asset = loadAssets().assets.get(name) ?? (await pdfFile(name));
  if (asset === undefined) return false;
  const isCompressed = acceptsGzip(request);
  if (isCompressed) asset.compressed ??= gzipAsync(asset.bytes);
  const bytes = isCompressed ? ((await asset.compressed) ?? asset.bytes) : asset.bytes;
  if (response.destroyed) return true;
  response.writeHead(200, {
    ...commonHeaders,
    ...securityHeaders,
    ...(name === 'pdf-worker.js' ? { 'content-security-policy': workerPolicy } : {}),
    // The URL contains the version, so a cached asset never becomes outdated.
    ...(request.url?.includes('?') ? { 'cache-control': 'public, max-age=31536000, immutable' } : {}),
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    vary: 'accept-encoding',
    'content-type': types.get(name) ?? 'application/octet-stream',
    'content-length': bytes.length,
  });
  response.end(bytes);
  return true;
}

/** Reads a file that pdf.js requests by name: a table of an Asian encoding, or a decoder for scanned pages. */
async function pdfFile(name: string): Promise<Asset | undefined> {
  if (!/^pdfjs\/(?:cmaps\/[\w-]+\.bcmap|wasm\/\w+\.wasm)$/.test(name)) return undefined;
  const bytes = await readFile(new URL(name, import.meta.url)).catch(() => undefined);
  return bytes && { bytes };
}

const gzipAsync = promisify(gzip);
/** Min bytes of a page that is compressed. */
const compressedBytesMin = 1_400;

/** Sends a page, compressed on another thread. */
export async function sendHtml(
  status: number,
  markup: string,
  request: IncomingMessage,
  response: ServerResponse,
  headers: Record<string, string> = {},
): Promise<void> {
  const uncompressed = Buffer.from(markup);
  const isCompressed = acceptsGzip(request) && uncompressed.length >= compressedBytesMin;
  const bytes = isCompressed ? await gzipAsync(uncompressed, { level: 4 }) : uncompressed;
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    ...commonHeaders,
    ...securityHeaders,
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
