import assert from 'node:assert/strict';
import type { Owner } from '../fakes/loopback-server.ts';
import { type Carrel, type CarrelOptions, startCarrel } from './child-program.ts';
import { until } from './pause.ts';

export type Json = Record<string, unknown>;

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Json;
}

export interface EngineClient {
  readonly url: string;
  readonly program: Carrel;
  call(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
  get(path: string): Promise<Json>;
  submit(form: FormData): Promise<ApiAnswer>;
  /** Submits a file and returns the job's id. */
  addFile(name: string, content: string | Uint8Array, fields?: Record<string, string>): Promise<number>;
  addNote(text: string, fields?: Record<string, string>): Promise<number>;
  /** Waits until the job has finished, and returns it. */
  waitForJob(job: number): Promise<Json>;
  /** Waits for the job, and returns the id of the document that it created. */
  documentIdOf(job: number): Promise<number>;
  search(body: Json): Promise<{ results: Json[]; total_matches: number; returned: number } & Json>;
}

/** Starts the built engine, by default without an embedding model, because most tests don't need one. */
export async function startEngine(
  t: Owner,
  { flags = [], ...options }: CarrelOptions & { flags?: readonly string[] } = {},
): Promise<EngineClient> {
  const env = { EMBEDDING_PROVIDER: 'none', ...options.env };
  const program = await startCarrel(t, ['engine', ...flags], { ...options, env });
  const key = options.env?.['KB_API_KEY'];
  return engineClient(program, key);
}

export function engineClient(program: Carrel, key?: string): EngineClient {
  const { url } = program;
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const read = async (response: Response): Promise<ApiAnswer> => ({
    status: response.status,
    headers: response.headers,
    json: (await response.json()) as Json,
  });
  const client: EngineClient = {
    url,
    program,
    async call(method, path, body) {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      return read(await fetch(`${url}${path}`, { method, headers: { ...headers, ...type }, ...json }));
    },
    async get(path) {
      const { status, json } = await client.call('GET', path);
      assert.equal(status, 200, JSON.stringify(json));
      return json;
    },
    submit: async (body) => read(await fetch(`${url}/jobs`, { method: 'POST', headers, body })),
    addFile: (name, content, fields) => submitAccepted(client, formOf(fields, name, content)),
    addNote: (text, fields) => submitAccepted(client, formOf({ ...fields, note: text })),
    waitForJob: (job) =>
      until(async () => {
        const found = await client.get(`/jobs/${job}`);
        return !['queued', 'processing'].includes(String(found['status'])) && found;
      }),
    async documentIdOf(job) {
      const found = await client.waitForJob(job);
      assert.equal(found['status'], 'done', JSON.stringify(found));
      return Number(found['document_id']);
    },
    async search(body) {
      const { status, json } = await client.call('POST', '/search', body);
      assert.equal(status, 200, JSON.stringify(json));
      return json as Awaited<ReturnType<EngineClient['search']>>;
    },
  };
  return client;
}

export function formOf(fields: Record<string, string> = {}, name?: string, content?: string | Uint8Array): FormData {
  const form = new FormData();
  if (name !== undefined) form.append('file', new Blob([new Uint8Array(Buffer.from(content ?? ''))]), name);
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  return form;
}

async function submitAccepted(client: EngineClient, form: FormData): Promise<number> {
  const { status, json } = await client.submit(form);
  assert.equal(status, 202, JSON.stringify(json));
  assert.equal(json['status'], 'queued');
  return Number(json['job_id']);
}
