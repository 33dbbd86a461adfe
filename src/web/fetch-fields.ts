import { isCarrelError } from '../base/errors.ts';
import { ConfigFault, type Field, integer, list } from '../config/field.ts';
import { parseTargetList } from './target-list.ts';

/** Settings of every part that fetches pages: each has them in its own section, from the same variables. */
export const fetchFields = {
  fetchTimeoutMs: integer({
    default: 15_000,
    min: 100,
    max: 120_000,
    env: ['FETCH_TIMEOUT_MS'],
    description: 'How long fetching a page may take with all redirects, in milliseconds.',
  }),
  fetchBytesMax: integer({
    default: 5 * 1024 * 1024,
    min: 1024,
    max: 16 * 1024 * 1024,
    env: ['FETCH_BYTES_MAX'],
    description: 'The largest page that is downloaded, in bytes, counted after decompression too.',
  }),
  fetchAllowPrivate: targets(
    list({
      default: [],
      env: ['FETCH_ALLOW_PRIVATE'],
      description:
        'Private targets that pages may be fetched from: host, host:port or a range, separated by commas. Metadata addresses remain blocked.',
    }),
  ),
};

/** Read twice, here and by the fetcher, so that a mistake is reported with the name of the variable. */
export function targets(field: Field<readonly string[]>): Field<readonly string[]> {
  return {
    ...field,
    read(raw) {
      const entries = field.read(raw);
      try {
        parseTargetList(entries);
      } catch (error) {
        throw isCarrelError(error) ? new ConfigFault(`holds a target that can't be read: ${error.message}`) : error;
      }
      return entries;
    },
  };
}
