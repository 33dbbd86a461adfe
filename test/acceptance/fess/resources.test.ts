import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { pdf } from '../../fakes/fess/document-site.ts';
import { checkNamed } from '../../support/named-fields.ts';
import type { Message } from '../../support/stdio-client.ts';
import { verifies } from '../../support/verifies.ts';
import { dataOf, documentAt, documentUri, financeBlock, openWorld, paths, type World, wholeFile } from './bridge.ts';

interface Listed {
  resources: { uri: string; name: string; title: string; description: string; mimeType: string }[];
  nextCursor?: string;
}

interface Read {
  contents: { uri: string; mimeType: string; text: string; _meta: Record<string, unknown> }[];
  nextCursor?: string;
  isLast: boolean;
  _meta: { nextCursor?: string; isLast: boolean; hash: string; offset: number; totalBytes: number };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const readOf = (message: Message): Read => {
  if (message.error) throw new Error(message.error.message);
  return message.result as unknown as Read;
};

for (const { version, transport } of [
  { version: '15.4', transport: 'http' },
  { version: '15.8', transport: 'stdio' },
] as const) {
  describe(`Fess ${version} over ${transport}`, () => {
    const owner = wholeFile();
    let world: World;
    before(async () => {
      world = await openWorld(owner, {
        version,
        transport,
        documentsPerLabel: 25,
        config: {
          limits: { maxPageSize: 10, maxChunkBytes: 1000 },
          contentFetch: { allowedHostAllowlist: ['127.0.0.1'], ...(version === '15.8' ? { enablePdf: true } : {}) },
        },
      });
    });
    const list = async (cursor?: string): Promise<Listed> =>
      (await world.peer.request('resources/list', cursor === undefined ? {} : { cursor })).result as unknown as Listed;
    const read = async (uri: string, more: object = {}): Promise<Message> =>
      world.peer.request('resources/read', { uri, ...more });

    verifies(
      ['001 AT-RES-001', '001 AT-RES-002', '000 §8.1 uris', '000 §8.2 paging', '000 §8.2 fields', '000 §7.3 block'],
      'the list is paged, complete and stable, with the domain block in each description',
      async () => {
        const pages: Listed[] = [];
        let cursor: string | undefined;
        do {
          const page = await list(cursor);
          pages.push(page);
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        assert.deepEqual(
          pages.map(({ resources }) => resources.length),
          [20, 20, 10],
        );
        const request = world.fess.requests.find(({ query }) => query.get('q') === '*:*');
        assert.deepEqual([request?.query.get('num'), request?.query.get('fields.label')], ['10', 'finance']);
        const all = pages.flatMap(({ resources }) => resources);
        const ours = world.corpus.documents.filter(({ labels }) => labels.includes('finance'));
        assert.deepEqual(
          new Set(all.map(({ uri }) => uri)),
          new Set(ours.flatMap(({ docId }) => [`fess://finance/doc/${docId}`, `fess://finance/doc/${docId}/content`])),
        );
        for (const { uri, name, title, description, mimeType } of all) {
          assert.ok(description.includes(financeBlock));
          assert.ok(description.length > financeBlock.length + 20, 'a short summary');
          assert.ok(name !== '' && title === name);
          assert.equal(mimeType, uri.endsWith('/content') ? 'text/plain' : 'application/json');
        }
        assert.deepEqual((await list(pages[0]?.nextCursor)).resources, pages[1]?.resources);
      },
    );

    test('rejects an altered or invented cursor with -32602 (contract §4)', async () => {
      const { nextCursor = '' } = await list();
      const forged = Buffer.from('[0]').toString('base64url');
      for (const cursor of [`${nextCursor}x`, nextCursor.slice(0, -1), 'abc', `0.${forged}~aaaaaaaaaaaaaaaaaaaaaa`]) {
        const { error } = await world.peer.request('resources/list', { cursor });
        assert.equal(error?.code, -32_602, cursor);
        assert.equal(error?.data?.['code'], 'invalid_cursor');
      }
    });

    verifies(
      ['001 AT-RES-003', '000 §8.3 shape', '000 §8.6 identity'],
      'a document is read as JSON, with doc_id, url and hash in the metadata',
      async () => {
        world.fess.setDocuments([documentAt(`${world.site.url}/page.html`)]);
        const facts = async () => {
          const { contents } = readOf(await read(documentUri));
          assert.equal(contents.length, 1);
          const [content] = contents;
          assert.deepEqual([content?.uri, content?.mimeType], [documentUri, 'application/json']);
          return { data: JSON.parse(content?.text ?? '') as Record<string, unknown>, meta: content?._meta };
        };
        const { data, meta } = await facts();
        assert.equal(data['title'], 'The document');
        assert.equal(data['url'], `${world.site.url}/page.html`);
        assert.equal(data['digest'], 'short');
        assert.equal(data['doc_id'], 'c0ffee00c0ffee00c0ffee00c0ffee00');
        assert.equal(data['last_modified'], '2025-01-02T00:00:00.000Z');
        assert.ok('timestamp' in data && 'created' in data);
        assert.deepEqual(Object.keys(meta ?? {}).sort(), ['doc_id', 'hash', 'url']);
        // The content is unknown until it is read.
        const text = readOf(await read(`${documentUri}/content`)).contents[0]?.text ?? '';
        const later = await facts();
        assert.deepEqual([later.meta?.['hash'], later.data['hash']], [sha256(text), sha256(text)]);
      },
    );

    verifies(
      ['001 AT-RES-004', '000 §8.4 chunks', '000 §8.5.4 hash', '000 §12 sizes'],
      'returns a long text in contiguous chunks; accepts the cursor in every position',
      async () => {
        const text = Array.from({ length: 300 }, (_, line) => `Line ${line}: é世🎉`).join('\n');
        world.site.setPage('/long', { contentType: 'text/plain; charset=utf-8', body: text });
        world.fess.setDocuments([documentAt(`${world.site.url}/long`)]);
        const uri = `${documentUri}/content`;
        let whole = '';
        let step = 0;
        let answer = readOf(await read(uri));
        for (;;) {
          const [content] = answer.contents;
          assert.deepEqual([content?.uri, content?.mimeType], [uri, 'text/plain']);
          assert.ok(Buffer.byteLength(content?.text ?? '') <= 1000);
          assert.equal(answer._meta.offset, Buffer.byteLength(whole));
          assert.equal(answer._meta.hash, sha256(text));
          assert.equal(answer._meta.totalBytes, Buffer.byteLength(text));
          assert.equal(answer._meta.isLast, answer.isLast);
          assert.equal(answer._meta.nextCursor, answer.nextCursor);
          assert.equal(content?._meta['hash'], sha256(text));
          whole += content?.text;
          if (answer.isLast) break;
          const cursor = answer.nextCursor ?? '';
          const places = [
            () => read(uri, { cursor }),
            () => read(uri, { _meta: { cursor } }),
            () => read(`${uri}?cursor=${encodeURIComponent(cursor)}`),
          ];
          answer = readOf((await (places[step % 3] ?? places[0])?.()) as Message);
          step += 1;
        }
        assert.equal(answer.nextCursor, undefined);
        assert.equal(whole, text);
        assert.ok(step > 3);
      },
    );

    test('a cursor belongs to one text, one document and one caller (contract §4)', async () => {
      const uri = `${documentUri}/content`;
      world.site.setPage('/changing', { contentType: 'text/plain', body: 'a'.repeat(3000) });
      const other = documentAt(`${world.site.url}/changing`, { docId: 'd'.repeat(32) });
      world.fess.setDocuments([documentAt(`${world.site.url}/changing`), other]);
      const { nextCursor: cursor = '' } = readOf(await read(uri));
      const elsewhere = await read(`fess://finance/doc/${'d'.repeat(32)}/content`, { cursor });
      assert.equal(elsewhere.error?.data?.['code'], 'invalid_cursor');
      const forged = await read(uri, { cursor: `${cursor.slice(0, -2)}AA` });
      assert.equal(forged.error?.code, -32_602);
      world.site.setPage('/changing', { contentType: 'text/plain', body: 'b'.repeat(3000) });
      const changed = await read(uri, { cursor });
      assert.equal(changed.error?.data?.['code'], 'content_changed');
    });

    test('the read tool gives the same chunks (contract §4)', async () => {
      const text = 'x'.repeat(2500);
      world.site.setPage('/tool', { contentType: 'text/plain', body: text });
      world.fess.setDocuments([documentAt(`${world.site.url}/tool`)]);
      const docId = 'c0ffee00c0ffee00c0ffee00c0ffee00';
      const first = dataOf(await world.peer.call('read', { docId }));
      assert.deepEqual([first['isLast'], first['offset'], first['title']], [false, 0, 'The document']);
      const second = dataOf(await world.peer.call('read', { docId, cursor: first['nextCursor'] }));
      const third = dataOf(await world.peer.call('read', { docId, cursor: second['nextCursor'] }));
      assert.equal(`${first['text']}${second['text']}${third['text']}`, text);
      const { tools } = (await world.peer.request('tools/list')).result as { tools: { name: string }[] };
      for (const answer of [first, third]) checkNamed(tools, 'fess_finance_read', answer);
      assert.deepEqual([third['isLast'], third['nextCursor'], third['hash']], [true, undefined, sha256(text)]);
    });

    test('unknown documents, other domains and other URIs are not found (-32002)', async () => {
      world.fess.setDocuments(world.corpus.documents);
      const foreign = world.corpus.documents.find(({ labels }) => labels.includes('hr'))?.docId;
      const uris = [
        `fess://finance/doc/${'0'.repeat(32)}`,
        `fess://finance/doc/${foreign}`,
        `fess://finance/doc/${foreign}/content`,
        `fess://hr/doc/${foreign}`,
        'fess://finance/doc/a b',
        'fess://finance/doc/a" OR doc_id:"b',
        'fess://finance/doc/',
        'fess://finance/other',
        'https://example.com/',
      ];
      for (const uri of uris) assert.equal((await read(uri)).error?.code, -32_002, uri);
    });

    verifies(
      ['001 AT-RES-005', '000 §8.5.2 fetch', '000 §8.5.3 html', '000 §8.5.3 text'],
      'converts HTML to plain text with its paragraphs, and leaves plain text unchanged',
      async () => {
        const content = async (page: string): Promise<string> => {
          world.fess.setDocuments([documentAt(`${world.site.url}${page}`)]);
          return readOf(await read(`${documentUri}/content`)).contents[0]?.text ?? '';
        };
        assert.equal(await content('/page.html'), 'First paragraph.\n\nSecond paragraph with bold & more.');
        assert.equal(await content('/moved'), 'First paragraph.\n\nSecond paragraph with bold & more.');
        assert.equal(await content('/plain.txt'), 'Plain text.\nGrüße, 世界.\n');
        assert.equal(await content('/latin1.txt'), 'Grüße');
        const asked = world.site.requests.at(-1)?.headers;
        assert.match(String(asked?.['user-agent']), /^carrel\//);
        assert.equal(asked?.authorization, undefined);
      },
    );

    verifies(
      ['001 AT-RES-006', '000 §10 restriction', '000 §11 ssrf'],
      'with an allowlist fetches only its hosts, also after redirects',
      async () => {
        const attempt = async (url: string) => {
          world.fess.setDocuments([documentAt(url)]);
          return (await read(`${documentUri}/content`)).error;
        };
        const { url } = world.site;
        const refused = await attempt('https://elsewhere.example.org/page');
        assert.equal(refused?.data?.['code'], 'host_not_allowed');
        assert.match(refused?.message ?? '', /not allowed by contentFetch\.allowedHostAllowlist/);
        assert.equal((await attempt('http://localhost/page'))?.data?.['code'], 'host_not_allowed');
        assert.equal((await attempt(`${url}/to-private`))?.data?.['code'], 'host_not_allowed');
        assert.equal((await attempt(`${url}/to-file`))?.data?.['code'], 'scheme_not_allowed');
        assert.equal(await attempt(`${url}/page.html`), undefined, 'and what it names may be private');
      },
    );

    verifies(
      ['001 AT-RES-007', '000 §8.5.3 pdf', '000 §10 pdf'],
      version === '15.8' ? 'converts a PDF with enablePdf' : 'rejects a PDF and names the setting',
      async () => {
        const pages = { '/document.pdf': /Text inside a PDF/, '/disguised': /Hidden words/ };
        world.site.setPage('/disguised', { contentType: 'application/octet-stream', body: pdf('Hidden words') });
        for (const [page, words] of Object.entries(pages)) {
          world.fess.setDocuments([documentAt(`${world.site.url}${page}`)]);
          const answer = await read(`${documentUri}/content`);
          if (version === '15.8') {
            assert.match(readOf(answer).contents[0]?.text ?? '', words);
          } else {
            assert.equal(answer.error?.data?.['code'], 'pdf_disabled');
            assert.match(answer.error?.message ?? '', /PDF conversion is disabled.*contentFetch\.enablePdf/);
          }
        }
      },
    );
  });
}

test('with viaFess an intranet is read without opening private networks (contract §4, issue: content)', async (t) => {
  for (const version of ['15.4', '15.8'] as const) {
    const { fess, site, corpus, peer } = await openWorld(t, { version, config: { contentFetch: { viaFess: true } } });
    const ours = corpus.documents.filter(({ labels }) => labels.includes('finance'));
    const page = ours.find(({ url }) => url.startsWith('http'));
    const file = ours.find(({ url }) => url.startsWith('file:'));
    const content = async (docId = ''): Promise<string> =>
      readOf(await peer.request('resources/read', { uri: `fess://finance/doc/${docId}/content` })).contents[0]?.text ??
      '';
    assert.match(await content(page?.docId), /Cached page of finance\./);
    assert.match(await content(file?.docId), /^File of finance\.\n/);
    assert.equal(site.requests.length, 0);
    const foreign = corpus.documents.find(({ labels }) => labels.includes('hr'))?.docId;
    const refused = await peer.request('resources/read', { uri: `fess://finance/doc/${foreign}/content` });
    assert.equal(refused.error?.code, -32_002);
    assert.ok(!JSON.stringify(refused).includes(paths(version).search));
    // A refusal does not recommend viaFess where it is on.
    fess.setDocuments([documentAt('http://10.1.2.3/')]);
    const { error } = await peer.request('resources/read', { uri: `${documentUri}/content` });
    assert.equal(error?.data?.['code'], 'private_network_blocked');
    assert.doesNotMatch(error?.message ?? '', /viaFess/);
  }
});
