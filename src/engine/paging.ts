import { fault } from './given.ts';

const limitDefault = 100;
const limitMax = 1_000;

/** A page as it is asked for, within its bounds. */
export function pageOf(given: { limit?: number | undefined; offset?: number | undefined }): {
  limit: number;
  offset: number;
} {
  const { limit = limitDefault, offset = 0 } = given;
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw fault(`limit must be a whole number from 1 to ${limitMax}`);
  }
  if (!Number.isSafeInteger(offset) || offset < 0) throw fault('offset must be a whole number, 0 or more');
  return { limit, offset };
}
