import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { type LoopbackServer, type Owner, serveHttp } from '../loopback-server.ts';

/**
 * A kb engine that differs from Carrel's. Lists are arrays, errors are `{detail}`, job ids are strings, hits have no document_id,
 * fields are missing, and only documented filters work. Jobs finish immediately, unless `holdsJobs` is set.
 */
export interface FakeEngine extends LoopbackServer {
  readonly requests: Recorded[];
  readonly documents: Map<number, FakeDocument>;
  /** Newest first. */
  readonly jobs: { status: string }[];
  /** Sets the answer to the next request. */
  interrupt(answer: Interruption): void;
  add(document: Partial<FakeDocument>): FakeDocument;
}

export type Interruption = (response: ServerResponse) => void;

export interface Recorded {
  method: string;
  /** Path and query. */
  url: string;
  authorization: string | undefined;
  body: unknown;
  fields: Record<string, string>;
  file?: { filename: string; bytes: Buffer };
  /** Resolves when the request's connection is closed. */
  closed: Promise<void>;
}

export interface FakeDocument {
  id: number;
  title: string;
  doc_type: string;
  tags: string[];
  source_path: string | null;
  text: string;
  hash: string;
}

export interface FakeOptions {
  apiKey?: string;
  /** If true, a tag request that adds tags ignores `remove`. */
  halfTags?: boolean;
  /** Jobs don't advance until the test finishes them. */
  holdsJobs?: boolean;
}

const base = '/api/v1';

export async function startFakeEngine(t: Owner, options: FakeOptions = {}): Promise<FakeEngine> {
  const documents = new Map<number, FakeDocument>();
  const jobs: { id: string; filename: string; status: string; document_id: number | null; error: string | null }[] = [];
  const requests: Recorded[] = [];
  const interruptions: Interruption[] = [];

  const add: FakeEngine['add'] = (fields) => {
    const id = fields.id ?? documents.size + 41;
    const text = fields.text ?? '';
    const document = {
      id,
      title: '',
      doc_type: 'note',
      tags: [],
      source_path: null,
      text,
      hash: createHash('sha256').update(text).digest('hex'),
      ...fields,
    };
    documents.set(id, document);
    return document;
  };

  const server = await serveHttp(t, (request, response) => {
    void record(request).then((recorded) => {
      requests.push(recorded);
      const interrupt = interruptions.shift();
      if (interrupt !== undefined) {
        interrupt(response);
        return;
      }
      const { status, body } = answer(recorded);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });

  const answer = (request: Recorded): { status: number; body: unknown } => {
    const url = new URL(request.url, server.origin);
    if (!url.pathname.startsWith(base)) return failure(404, 'Not Found');
    if (options.apiKey !== undefined && request.authorization !== `Bearer ${options.apiKey}`) {
      return failure(401, 'Invalid API key');
    }
    const route = `${request.method} ${url.pathname.slice(base.length).replace(/\/\d+/, '/:id')}`;
    const job = options.holdsJobs && jobs.find((each) => route === `GET /jobs/${each.id}`);
    if (job) return ok(job);
    const id = Number(/\/(\d+)/.exec(url.pathname.slice(base.length))?.[1]);
    const document = documents.get(id);
    const body = (request.body ?? {}) as Record<string, unknown>;
    switch (route) {
      case 'GET /status':
        return ok({
          version: '3.2.2',
          model: { name: 'all-MiniLM-L6-v2' },
          device: 'cpu',
          documents: documents.size,
          chunks: documents.size,
          queue: { queued: 0, processing: 0, done: jobs.length, failed: 0 },
        });
      case 'POST /search': {
        const found = [...documents.values()].filter((each) => matches(each, body));
        const top = Number(body['top'] ?? 10);
        return ok({
          query: body['query'],
          results: found.slice(0, top).map(hitOf),
          total_matches: found.length,
          returned: Math.min(found.length, top),
        });
      }
      case 'POST /jobs':
        return submit(request);
      case 'GET /jobs': {
        const status = url.searchParams.get('status');
        return ok(jobs.filter((job) => status === null || job.status === status));
      }
      case 'GET /documents': {
        const [type, tags] = [url.searchParams.get('type'), url.searchParams.get('tags')?.split(',') ?? []];
        const found = [...documents.values()].filter(
          (each) => (type === null || type === each.doc_type) && tags.every((tag) => each.tags.includes(tag)),
        );
        return ok(found.map(summaryOf));
      }
      case 'GET /tags': {
        const counts = new Map<string, number>();
        for (const { tags } of documents.values()) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
        return ok([...counts].map(([tag, count]) => ({ tag, count })));
      }
      case 'POST /bulk/delete':
      case 'POST /bulk/tags':
      case 'POST /bulk/set-tags':
        return bulk(route, body);
      default:
    }
    if (!route.includes(':id')) return failure(404, 'Not Found');
    if (document === undefined) return failure(404, `Document ${id} not found in /data/kb.sqlite`);
    switch (route) {
      case 'GET /documents/:id':
        return ok(detailOf(document));
      case 'DELETE /documents/:id':
        documents.delete(id);
        return ok({ status: 'deleted', document_id: id, title: document.title });
      case 'PUT /documents/:id/tags':
        changeTags(document, body);
        return ok(summaryOf(document));
      case 'PATCH /notes/:id':
        if (document.doc_type !== 'note') return failure(422, 'Only notes can be updated');
        document.text = String(body['text']);
        return ok(detailOf(document));
      default:
        return failure(405, 'Method Not Allowed');
    }
  };

  const changeTags = (
    document: FakeDocument,
    { add: added = [], remove = [] }: { add?: string[]; remove?: string[] },
  ) => {
    const ignoresRemove = options.halfTags === true && added.length > 0;
    const remaining = ignoresRemove ? document.tags : document.tags.filter((tag) => !remove.includes(tag));
    document.tags = [...new Set([...remaining, ...added])];
  };

  const submit = ({ fields, file }: Recorded) => {
    const text = file ? file.bytes.toString('utf8') : (fields['note'] ?? '');
    const hash = createHash('sha256').update(text).digest('hex');
    const duplicate = [...documents.values()].find((each) => each.hash === hash);
    if (duplicate)
      return { status: 409, body: { error: 'duplicate', document_id: duplicate.id, title: duplicate.title } };
    const filename = file?.filename ?? 'note.md';
    const document = add({
      title: fields['title'] ?? filename,
      doc_type: file ? 'markdown' : 'note',
      tags: (fields['tags'] ?? '').split(',').filter((tag) => tag !== ''),
      source_path: fields['source_path'] ?? `/staging/${hash.slice(0, 8)}`,
      text,
      hash,
    });
    const status = options.holdsJobs ? 'processing' : 'done';
    const job = { id: `job-${jobs.length + 1}`, filename, status, document_id: document.id, error: null };
    jobs.unshift(job);
    return { status: 202, body: { job_id: job.id, status: 'queued', filename } };
  };

  const bulk = (route: string, body: Record<string, unknown>) => {
    const selected = [...documents.values()].filter((each) => selects(body, each));
    if (selected.length / documents.size > 0.7 && body['force'] !== true) {
      const counts = { matched: selected.length, total: documents.size, percent: 100 };
      return { status: 409, body: { error: 'safety_threshold_exceeded', message: 'refused', ...counts } };
    }
    const total = documents.size;
    for (const document of selected) {
      if (route === 'POST /bulk/delete') documents.delete(document.id);
      else if (route === 'POST /bulk/tags') changeTags(document, body);
      else document.tags = [...((body['set_tags'] ?? []) as string[])];
    }
    return ok({ matched: selected.length, total, changed: selected.length, job_id: 'job-bulk' });
  };

  return { ...server, requests, documents, jobs, interrupt: (each) => void interruptions.push(each), add };
}

function ok(body: unknown) {
  return { status: 200, body };
}

function failure(status: number, detail: string) {
  return { status, body: { detail } };
}

function summaryOf({ id, title, doc_type, tags, source_path }: FakeDocument) {
  return {
    id,
    title,
    doc_type,
    tags,
    source_path,
    chunk_count: 1,
    created_at: '2026-04-04T22:50:19Z',
    updated_at: null,
  };
}

function detailOf(document: FakeDocument) {
  const { text, hash } = document;
  const chunks = text
    .split('\f')
    .map((part, index) => ({ id: document.id * 10 + index, chunk_index: index, text: part, chunk_metadata: null }));
  return { ...summaryOf(document), language: 'en', content_hash: hash, has_file: false, chunks };
}

function hitOf({ id, title, doc_type, tags, source_path, text }: FakeDocument) {
  return {
    chunk_id: id * 10,
    score: 0.5,
    text,
    chunk_index: 0,
    chunk_metadata: { page: 3 },
    title,
    doc_type,
    source_path,
    created_at: '2026-04-04T22:50:19Z',
    tags,
  };
}

function matches({ text, tags, doc_type }: FakeDocument, body: Record<string, unknown>): boolean {
  const requested = (body['tags'] ?? []) as string[];
  const isType = body['doc_type'] === undefined || body['doc_type'] === doc_type;
  const words = String(body['query']).toLowerCase().split(/\s+/);
  return (
    isType && requested.every((tag) => tags.includes(tag)) && words.some((word) => text.toLowerCase().includes(word))
  );
}

function selects(body: Record<string, unknown>, { id, tags, doc_type }: FakeDocument): boolean {
  const ids = body['document_ids'] as number[] | undefined;
  const requested = (body['tags'] ?? []) as string[];
  return (
    (ids === undefined || ids.includes(id)) &&
    requested.every((tag) => tags.includes(tag)) &&
    (body['doc_type'] === undefined || body['doc_type'] === doc_type) &&
    id >= Number(body['from_id'] ?? 0) &&
    id <= Number(body['to_id'] ?? Number.MAX_SAFE_INTEGER)
  );
}

async function record(request: IncomingMessage): Promise<Recorded> {
  const { method = '', url = '', headers } = request;
  // No limit on listeners: a kept-alive connection carries many requests, each with its own listener.
  request.socket.setMaxListeners(0);
  const closed = new Promise<void>((resolve) => request.socket.once('close', () => resolve()));
  const common = { method, url, authorization: headers.authorization, closed };
  const type = headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) return { ...common, body: undefined, ...(await readForm(request, type)) };
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString('utf8');
  return { ...common, body: text === '' ? undefined : JSON.parse(text), fields: {} };
}

function readForm(request: IncomingMessage, type: string): Promise<Pick<Recorded, 'fields' | 'file'>> {
  return new Promise((resolve, reject) => {
    const form: Pick<Recorded, 'fields' | 'file'> = { fields: {} };
    const parser = new Busboy({ headers: { 'content-type': type }, limits: { fieldSize: 2 ** 24 } });
    parser.on('field', (name, value) => {
      form.fields[name] = value;
    });
    parser.on('file', (_name, stream, filename) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        form.file = { filename, bytes: Buffer.concat(parts) };
      });
    });
    parser.on('finish', () => resolve(form));
    parser.on('error', reject);
    request.on('error', () => {});
    request.pipe(parser);
  });
}
