import { isCarrelError } from '../base/errors.ts';
import { ConfigFault, type Field, integer, list } from '../config/field.ts';
import { parseTargetList } from './target-list.ts';

/** Settings of every part of the program that fetches pages. Each part has its own section, with the same variables. */
export const fetchFields = {
  fetchTimeoutMs: integer({
    default: 15_000,
    min: 100,
    max: 120_000,
    env: ['FETCH_TIMEOUT_MS'],
    description: 'Timeout for fetching a page and its redirects, in milliseconds.',
  }),
  fetchBytesMax: integer({
    default: 5 * 1024 * 1024,
    min: 1024,
    max: 16 * 1024 * 1024,
    env: ['FETCH_BYTES_MAX'],
    description: 'Max size of a page in bytes, before and after decompression.',
  }),
  fetchAllowPrivate: targets(
    list({
      default: [],
      env: ['FETCH_ALLOW_PRIVATE'],
      description:
        'Hosts with private addresses that Carrel may fetch pages from, as host, host:port or an address range. Cloud metadata addresses are always blocked.',
    }),
  ),
};

/** Adds a check to a field with targets. The fetcher parses them too, but only here can the error name the variable. */
export function targets(field: Field<readonly string[]>): Field<readonly string[]> {
  return {
    ...field,
    read(raw) {
      const entries = field.read(raw);
      try {
        parseTargetList(entries);
      } catch (error) {
        throw isCarrelError(error) ? new ConfigFault(`has an invalid target: ${error.message}`) : error;
      }
      return entries;
    },
  };
}
