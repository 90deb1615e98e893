import { z } from 'zod';
import { isJson, isPlainObject } from './json.ts';

/** Any JSON object, as it is: z.record() and z.looseObject() leave a key `__proto__` out without a word. */
export const JsonObjectSchema = z
  .custom<Record<string, z.core.util.JSONType>>(value => isPlainObject(value) && isJson(value), 'must be a JSON object')
  .meta({ type: 'object' });
