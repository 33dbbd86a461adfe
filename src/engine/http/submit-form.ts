import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import { respondJson } from '../../http/respond.ts';
import { invalidInput } from '../contract/validate-input.ts';
import type { SubmissionFields, SubmitOutcome } from '../engine.ts';
import type { RouteCall } from './read-input.ts';

type FormFields = ReadonlyMap<string, readonly string[]>;

/** Max bytes of a field other than the file: a note may have a million characters of four bytes each. */
const fieldBytesMax = 4 * 1024 * 1024;
const fieldsMax = 20;
const formBytesMax = 8 * 1024 * 1024;

/** Answers `POST /jobs`, which submits a file or a note with its title, tags and other fields. */
export async function submitForm(call: RouteCall, fileBytesMax: number): Promise<void> {
  const { response } = call;
  const outcome = await submit(call, fileBytesMax);
  if (outcome.accepted) {
    const { job_id, status, filename } = outcome;
    respondJson(response, 202, { job_id, status, filename });
    return;
  }
  const { accepted: _, ...existing } = outcome;
  const where =
    existing.document_id === undefined
      ? `queued as job ${existing.job_id}`
      : `stored as document ${existing.document_id}`;
  respondJson(response, 409, { error: 'duplicate', detail: `The same content is already ${where}.`, ...existing });
}

/** Streams the form: the file goes to disk piece by piece, and everything else is limited in size. */
async function submit({ request, engine, signal }: RouteCall, fileBytesMax: number): Promise<SubmitOutcome> {
  if (!/^multipart\/form-data\s*;/i.test(request.headers['content-type'] ?? '')) {
    throw new CarrelError('unsupported_media_type', 'The body must be a form: Content-Type: multipart/form-data.');
  }
  if (Number(request.headers['content-length']) > fileBytesMax + formBytesMax) {
    const message = `The file is larger than ${fileBytesMax} bytes, the limit (KB_FILE_BYTES_MAX).`;
    throw new CarrelError('too_large', message, { data: { bytesMax: fileBytesMax } });
  }
  const fields = new Map<string, string[]>();
  const submissions: Promise<SubmitOutcome>[] = [];
  const parsed = parse(request, {
    onField(name, value) {
      fields.set(name, [...(fields.get(name) ?? []), value]);
    },
    onFile(filename, content) {
      const complete = parsed.then(() => {
        if (fields.has('note')) throw invalidInput('The form must have a file or a note, not both');
        return { filename, ...fieldsOf(fields) };
      });
      const submission = engine.submitStreamed(content, complete, { signal });
      submissions.push(submission);
      return submission;
    },
  });
  try {
    await parsed;
  } catch (error) {
    // If the file was rejected, the broken form is only a consequence.
    const rejected = await submissions[0]?.catch((cause: unknown) => cause);
    throw [rejected, error].find(isCarrelError) ?? malformed(error);
  }
  const [submission] = submissions;
  if (submission !== undefined) return submission;
  const note = fields.get('note')?.at(-1);
  if (note === undefined) throw invalidInput('The form must have the field "file", with a file, or the field "note"');
  // Browsers and other clients send line breaks of a field as CRLF (HTML, "constructing the entry list").
  return engine.submit({ note: note.replaceAll('\r\n', '\n'), ...fieldsOf(fields) });
}

function fieldsOf(fields: FormFields): SubmissionFields {
  const last = (name: string) => fields.get(name)?.at(-1);
  return {
    title: last('title'),
    doc_type: last('doc_type'),
    source_path: last('source_path'),
    // Text that is not a number becomes NaN, which the engine rejects.
    replaces: last('replaces') === undefined ? undefined : Number(last('replaces')),
    tags: (fields.get('tags') ?? []).flatMap(tagsIn),
  };
}

/** Reads tags separated by commas, or as a JSON array. */
function tagsIn(field: string): string[] {
  if (field.trimStart().startsWith('[')) {
    try {
      const parsed: unknown = JSON.parse(field);
      if (Array.isArray(parsed) && parsed.every((tag) => typeof tag === 'string')) return parsed;
    } catch {
      // Not JSON: a tag may start with a bracket too.
    }
  }
  return field.split(',');
}

interface FormEvents {
  onField(name: string, value: string): void;
  onFile(filename: string, content: AsyncIterable<Uint8Array>): Promise<unknown>;
}

function parse(request: IncomingMessage, events: FormEvents): Promise<void> {
  return new Promise((resolve, reject) => {
    const form = openForm(request);
    let filesSeen = 0;
    const stop = (error: unknown): void => {
      request.unpipe(form);
      form.destroy();
      reject(error);
    };
    form.on('file', (name, stream, filename, transferEncoding) => {
      filesSeen += 1;
      stream.on('error', stop);
      if (isTransferEncoded(transferEncoding)) return stop(transferEncoded());
      if (name !== 'file' || filesSeen > 1)
        return stop(invalidInput('The form must have one file, in the field "file"'));
      // Ends the file's stream when the form ends early, so that its reader does not wait forever.
      form.once('close', () => stream.destroyed || stream.destroy(new Error('the form ended early')));
      events.onFile(unescaped(filename ?? ''), stream).catch(stop);
    });
    form.on('field', (name, value, nameTruncated, valueTruncated, transferEncoding) => {
      if (isTransferEncoded(transferEncoding)) return stop(transferEncoded());
      if (nameTruncated || valueTruncated) {
        return stop(
          new CarrelError(
            'too_large',
            `A field of the form is larger than ${fieldBytesMax} bytes. Send long text as a file.`,
          ),
        );
      }
      if (name === 'file') return stop(invalidInput('The field "file" must have a filename'));
      events.onField(name, value);
    });
    form.on('fieldsLimit', () => stop(invalidInput(`The form must have at most ${fieldsMax} fields`)));
    form.on('partsLimit', () => stop(invalidInput(`The form must have at most ${fieldsMax + 1} parts`)));
    form.on('filesLimit', () => stop(invalidInput('The form must have one file, in the field "file"')));
    form.on('error', stop);
    form.on('finish', resolve);
    request.on('error', stop);
    request.on('close', () => {
      if (!request.complete) stop(malformed(undefined));
    });
    request.pipe(form);
  });
}

function openForm(request: IncomingMessage): BusboyInstance {
  try {
    // The content type was checked before.
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: {
        fieldNameSize: 100,
        fieldSize: fieldBytesMax,
        fields: fieldsMax,
        files: 1,
        parts: fieldsMax + 1,
        headerPairs: 20,
        headerSize: 16 * 1024,
      },
    });
  } catch (error) {
    throw malformed(error);
  }
}

/** Undoes the escaping of quotation marks by browsers and most clients (HTML, "multipart/form-data"). */
function unescaped(filename: string): string {
  return filename.replaceAll('%22', '"');
}

/** True for an encoding that would be stored undecoded. Form parts should have none (RFC 7578 §4.7). */
function isTransferEncoded(encoding: string): boolean {
  return /^(?:base64|quoted-printable)$/i.test(encoding);
}

function transferEncoded(): CarrelError {
  return new CarrelError('unsupported_media_type', 'The parts of the form must not have a Content-Transfer-Encoding.');
}

function malformed(cause: unknown): CarrelError {
  return new CarrelError('malformed_body', 'The form is malformed or incomplete.', { cause });
}
