import type { Entry } from '../../../storage/contracts/entries.ts';
import { showImage } from '../write/images.ts';
import { truncate } from './truncate.ts';

/** An entry as get_context_by_ids shows it. */
export function showFull(entry: Entry) {
  return { ...showCommon(entry), text_content: entry.text, summary: entry.summary ?? null };
}

/** An entry as searches show it. */
export function showFound(entry: Entry, charsMax: number) {
  const { text, truncated } = truncate(entry.text, charsMax);
  return {
    ...showCommon(entry),
    text_content: text,
    summary: entry.summary ?? '',
    is_text_content_truncated: truncated,
  };
}

function showCommon(entry: Entry) {
  return {
    id: entry.id,
    thread_id: entry.threadId,
    source: entry.source,
    content_type: entry.contentType,
    metadata: entry.metadata === undefined ? null : { ...entry.metadata },
    tags: [...entry.tags],
    created_at: entry.createdAt,
    updated_at: entry.updatedAt,
    ...(entry.images !== undefined && entry.contentType === 'multimodal'
      ? { images: entry.images.map(showImage) }
      : {}),
  };
}
