import type { FakeDocument } from './fake-document.ts';

/** What `/cache` shows: a head, a banner in two nested boxes, then the page as it was crawled, or nothing. */
export function cachePage(document: FakeDocument): string {
  const notice = `This is a cache of ${document.url}. It is a snapshot of the page at ${document.created}.`;
  return [
    '<!DOCTYPE html>',
    '<meta http-equiv="Content-Type" content="text/html; charset=UTF-8">',
    `<base href="${document.url}">`,
    '<div style="border:1px solid #999;">',
    `<div style="background:#ddd;">${notice}</div>`,
    '</div>',
    document.cachedHtml ?? '',
    '',
  ].join('\n');
}
