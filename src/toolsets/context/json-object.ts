import * as z from 'zod';
import { isObject } from '../../base/json.ts';

/** An argument that is a JSON object, with all its keys: `z.record` drops a key named __proto__. */
export const jsonObject = z.custom<Record<string, unknown>>(isObject, 'must be an object').meta({ type: 'object' });
