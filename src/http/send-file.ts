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

/** Sends a file unchanged. A browser downloads it and never shows it as a page, because its content is not trusted. */
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

/** Returns the header's value (RFC 6266): an ASCII name for old clients, and the real name, encoded by RFC 8187. */
export function contentDisposition(filename: string): string {
  const asciiName = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encodedName = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${asciiName}"; filename*=UTF-8''${encodedName}`;
}
