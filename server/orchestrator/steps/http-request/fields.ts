import { z } from 'zod';
import { isJson } from '../../../platform/json.ts';
import { JsonObjectSchema } from '../../../platform/zod-json.ts';
import type { JsonValue } from '../../core/index.ts';
import { MAX_TEXT_LENGTH } from '../common-fields.ts';
import { onLostField } from '../on-lost.ts';
import { MAX_URL_LENGTH, paginationField } from './page-fields.ts';

/** Methods that a step may send. */
export const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** Methods that are not safe (RFC 9110, 9.2.1): they may change something. */
export const UNSAFE_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Methods that are not idempotent (RFC 9110, 9.2.2): repeating a request may repeat its effect. */
export const REPEATED_AT_RISK: ReadonlySet<string> = new Set(['POST', 'PATCH']);
/**
 * Returns why a request has no body; null if it may have one (RFC 9110, 9.3.1: the body of a GET has no general
 * meaning).
 */
export function bodyRefusal(method: string, withGet = false): string | null {
  if (method === 'HEAD') return 'a HEAD request has no body';
  return method === 'GET' && !withGet ? 'a GET request has no body, unless body_with_get is true' : null;
}

/** The fields that contain a body. A step has at most one of them. */
export const BODY_FIELDS = ['body', 'form', 'text', 'multipart'] as const;

/** docs/specification/limits.md#http-requests */
export const MAX_HEADERS = 64;
export const MAX_HEADER_BYTES = 8 * 1024;
export const MAX_ALL_HEADERS_BYTES = 32 * 1024;
export const MAX_PARAMETERS = 200;
export const MAX_PARTS = 100;
/** The maximum size of a rendered request, and of the largest of its fields. */
export const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

const JsonValueSchema = z.custom<JsonValue>(isJson, 'must be JSON').meta({});

const Part = z.strictObject({
  name: z.string().min(1).max(200),
  value: JsonValueSchema.meta({
    description: 'Text, numbers, booleans and null are sent as text, objects and lists as JSON. May hold templates',
  }),
  filename: z.string().min(1).max(255).optional().meta({ description: 'Sends the part as a file; may hold templates' }),
  content_type: z.string().min(1).max(200).optional().meta({ description: 'May hold templates' }),
  encoding: z.literal('base64').optional().meta({ description: 'The value is base64, and its bytes are sent' }),
});

const credential = z.string().min(1).max(64).optional();
const Auth = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('bearer') }),
    z.strictObject({ type: z.literal('basic') }),
    z.strictObject({ type: z.literal('header'), name: z.string().min(1).max(100).optional(), credential }),
    z.strictObject({ type: z.literal('query'), name: z.string().min(1).max(100), credential }),
  ])
  .meta({ description: 'How the credentials are sent. Default: basic with username and password, otherwise bearer' });

const StatusClass = z.enum(['2xx', '3xx', '4xx', '5xx']);
const Expected = z.union([z.number().int().min(200).max(599), StatusClass]);

/** The fields of an `http_request` step besides the common ones (docs/specification/steps.md#http_request). */
export const httpRequestFields = z.strictObject({
  method: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: `${METHODS.join(', ')}. Default GET` }),
  url: z.string().min(1).max(MAX_URL_LENGTH).meta({
    description: 'http or https. Values that templates insert after its beginning are percent-encoded',
  }),
  query: JsonObjectSchema.optional().meta({
    description: 'Parameters that are added to the URL. A list repeats its parameter, null leaves it out',
  }),
  headers: JsonObjectSchema.optional().meta({ description: 'Null leaves a header out' }),
  body: JsonValueSchema.optional().meta({ description: 'Sent as JSON' }),
  form: JsonObjectSchema.optional().meta({ description: 'Sent as application/x-www-form-urlencoded' }),
  text: z.string().max(MAX_TEXT_LENGTH).optional().meta({ description: 'Sent as it is, as text/plain' }),
  multipart: z.array(Part).min(1).max(MAX_PARTS).optional().meta({ description: 'Sent as multipart/form-data' }),
  body_with_get: z
    .boolean()
    .optional()
    .meta({ description: 'Allows a body with GET, for servers that expect one. Default false' }),
  connection_id: z.string().min(1).max(200).optional().meta({ description: 'The connection with the credentials' }),
  auth: Auth.optional(),
  expect: z
    .array(Expected)
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'Statuses that count as success, such as 404 or "2xx". Default ["2xx"]' }),
  response: z.enum(['auto', 'json', 'text', 'bytes']).optional().meta({
    description: 'How the body is read. Default auto: JSON by its content type, text if it is text, otherwise base64',
  }),
  follow_redirects: z.boolean().optional().meta({ description: 'Default true: at most 5' }),
  pagination: paginationField.optional(),
  on_lost: onLostField,
});

export type HttpRequestFields = z.output<typeof httpRequestFields>;

/** Returns a test for the statuses that `expect` lists, by default the 2xx statuses. */
export function statusTest(expected: HttpRequestFields['expect'] = ['2xx']): (status: number) => boolean {
  return status => expected.some(each => each === status || each === `${Math.floor(status / 100)}xx`);
}
