import * as z from 'zod';
import { isObject } from '../../base/json.ts';

/** An argument that is a JSON object, key by key as it came: `z.record` leaves out a key that is named __proto__. */
export const jsonObject = z.custom<Record<string, unknown>>(isObject, 'must be an object').meta({ type: 'object' });
