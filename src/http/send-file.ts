import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { commonHeaders } from './respond.ts';

export interface FileToSend {
  filename: string;
  content_type: string;
  size: number;
  content: AsyncIterable<Uint8Array>;
}

/** Sends it byte for byte. It is foreign content: downloaded, never shown as a page of ours. */
export async function sendFile(file: FileToSend, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(200, {
    ...commonHeaders,
    'content-type': file.content_type,
    'content-length': file.size,
    'content-disposition': contentDisposition(file.filename),
    'content-security-policy': "sandbox; default-src 'none'",
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  await pipeline(Readable.from(file.content, { objectMode: false }), response);
}

/** RFC 6266: an ASCII name for old clients, and the real one as in RFC 8187. */
export function contentDisposition(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const exact = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
