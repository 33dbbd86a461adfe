import type { PassageStore } from '../../contracts/passages.ts';
import type { Transactions } from '../../transactions.ts';
import { getPassages, searchPassages, weighPassages } from './read-passages.ts';
import { removePassages, replacePassages } from './write-passages.ts';

export function createPassageStore({ write, read }: Transactions): PassageStore {
  return {
    replace: (documents) => write(replacePassages, documents),
    remove: (parents) => write(removePassages, parents),
    get: (keys, options) => read(getPassages, keys, options),
    search: (request, options) => read(searchPassages, request, options),
    weigh: (request, options) => read(weighPassages, request, options),
  };
}
