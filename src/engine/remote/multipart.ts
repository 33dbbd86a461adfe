import { randomUUID } from 'node:crypto';
import type { ServiceStream } from '../../http/service-client.ts';

export interface MultipartFile {
  filename: string;
  content: AsyncIterable<Uint8Array>;
  size: number | undefined;
}

/** Creates a form with text fields, followed by one streamed file. */
export function multipartForm(
  fields: Readonly<Record<string, string>>,
  file?: MultipartFile,
): { contentType: string; body: ServiceStream } {
  // Random, so that the content cannot contain it.
  const boundary = `carrel-${randomUUID()}`;
  const texts = Object.entries(fields).map(([name, value]) => part(boundary, `name="${name}"`, '', value));
  const head = Buffer.from(texts.join('') + (file ? fileHead(boundary, file.filename) : ''));
  const tail = Buffer.from(`${file ? '\r\n' : ''}--${boundary}--\r\n`);
  const contentBytes = file ? file.size : 0;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: {
      content: join(head, file?.content, tail),
      size: contentBytes === undefined ? undefined : head.length + contentBytes + tail.length,
    },
  };
}

function part(boundary: string, disposition: string, type: string, value: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${type}\r\n${value}\r\n`;
}

function fileHead(boundary: string, filename: string): string {
  const head = part(
    boundary,
    `name="file"; filename="${escapeName(filename)}"`,
    'Content-Type: application/octet-stream\r\n',
    '',
  );
  return head.slice(0, -'\r\n'.length);
}

/** Escapes a file name as browsers do (HTML, "multipart/form-data encoding algorithm"). The name is UTF-8. */
function escapeName(name: string): string {
  return name.replace(/[\r\n"]/g, (character) => encodeURIComponent(character));
}

async function* join(
  head: Buffer,
  content: AsyncIterable<Uint8Array> | undefined,
  tail: Buffer,
): AsyncGenerator<Uint8Array> {
  yield head;
  if (content) yield* content;
  yield tail;
}
