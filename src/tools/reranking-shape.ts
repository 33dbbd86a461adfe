import * as z from 'zod';

/** `{state: applied | off | failed, reason?}`: whether a model has ordered the results. Not spelt out, to save tokens. */
export const rerankingShape = z.unknown();
