import { z } from 'zod';
import { isJson, isPlainObject } from './json.ts';

/** Any JSON object, unchanged: z.record() and z.looseObject() silently drop a key `__proto__`. */
export const JsonObjectSchema = z
  .custom<Record<string, z.core.util.JSONType>>(value => isPlainObject(value) && isJson(value), 'must be a JSON object')
  .meta({ type: 'object' });
