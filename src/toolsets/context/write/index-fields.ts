import { CarrelError, isCarrelError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { ContextConfig } from '../context-slice.ts';

/** Updates the metadata index to the configured fields, as far as METADATA_INDEX_SYNC_MODE allows. */
export async function indexConfiguredFields(
  { indexedFields: fields, indexSyncMode: mode }: Pick<ContextConfig, 'indexedFields' | 'indexSyncMode'>,
  { entries, log }: { entries: EntryStore; log: Logger },
): Promise<void> {
  try {
    const { missing, extra } = await entries.indexFields({ fields, mode });
    const differs = missing.length > 0 || extra.length > 0;
    if (differs && mode === 'strict') {
      throw new CarrelError(
        'invalid_config',
        `METADATA_INDEXED_FIELDS differs from the index in the database (missing: ${formatNames(missing)}; extra: ${formatNames(extra)}). Set METADATA_INDEX_SYNC_MODE=auto once to change the index, or set METADATA_INDEXED_FIELDS to the fields that the index has.`,
      );
    }
    if (differs && mode === 'warn')
      log.warn('the metadata index differs from METADATA_INDEXED_FIELDS', { missing, extra });
  } catch (error) {
    // In a read-only database, the index stays as it is.
    if (!isCarrelError(error) || error.code !== 'storage_read_only') throw error;
    log.warn('the metadata index is left unchanged', { reason: error.message });
  }
}

function formatNames(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
