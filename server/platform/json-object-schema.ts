import { z } from 'zod';
import { isJson, isPlainObject, type JsonObject } from './json.ts';

/** Any JSON object, unchanged: z.record() and z.looseObject() silently drop a key `__proto__`. */
export const JsonObjectSchema = z
  .custom<JsonObject>(value => isPlainObject(value) && isJson(value), 'must be a JSON object')
  .meta({ type: 'object' });
