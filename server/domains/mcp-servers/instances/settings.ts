import { z } from 'zod';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { type ErrorDetail, invalid } from '../../../platform/errors.ts';
import { isObject } from '../../../platform/json.ts';

const MAX_BYTES = 16_384;
const MAX_HEADERS = 20;

/**
 * The effects of an instance's `config` and a profile's `settings`:
 * - `headers`: further HTTP headers of every request. They are not secret; credentials belong in a connection, and
 *   replace them.
 * - `default_args`: arguments for steps that leave them out, passed to tools whose schema declares them.
 * - everything else is sent with each call as `_meta.config`, for servers that read it.
 */
export type Settings = {
  headers: Readonly<Record<string, string>>;
  defaultArgs: JsonMap;
  /** Null: nothing to send. */
  config: JsonMap | null;
};

/** Headers that are set by the protocol, the connection or a credential. */
const reserved =
  /^(?:authorization|proxy-.*|cookie2?|set-cookie|host|content-.*|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|accept|accept-encoding|mcp-.*|last-event-id|traceparent|tracestate|x-forwarded-.*|forwarded)$/i;

const HeaderName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'is not the name of a header')
  .refine(name => !reserved.test(name), 'may not be set here; credentials belong in a connection');
const HeaderValue = z.string().regex(/^[\x20-\x7e]{0,1000}$/, 'must be at most 1,000 printable ASCII characters');
const Known = z.looseObject({
  headers: z
    .record(HeaderName, HeaderValue)
    .refine(headers => Object.keys(headers).length <= MAX_HEADERS, `must be at most ${MAX_HEADERS}`)
    .optional(),
  default_args: z.record(z.string(), z.unknown()).optional(),
});

/** Throws AppError 422 `invalid_settings` for headers that may not be set, or more than 16 KiB. `field` is the field of the request. */
export function checkSettings(field: 'config' | 'settings', value: JsonMap): void {
  const details = settingsProblems(field, value);
  if (details.length > 0) throw invalid('The settings are not valid.', details, 'invalid_settings');
}

function settingsProblems(field: string, value: JsonMap): ErrorDetail[] {
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_BYTES) {
    return [{ path: field, message: `must be at most ${MAX_BYTES / 1024} KiB`, code: 'too_large' }];
  }
  const parsed = Known.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.map(issue => ({
    path: [field, ...issue.path.map(String)].join('.'),
    // For a bad key of a record, the actual issue is inside the issue.
    message: issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message,
    code: 'invalid_settings',
  }));
}

/**
 * Returns the settings in effect. The active profile's replace the instance's, setting by setting; within `headers` and
 * `default_args` key by key.
 */
export function effectiveSettings(config: JsonMap, profile: JsonMap | null): Settings {
  const [own, over] = [split(config), split(profile ?? {})];
  const rest = { ...own.rest, ...over.rest };
  const headers = new Map<string, [name: string, value: string]>();
  for (const [name, value] of [...Object.entries(own.headers), ...Object.entries(over.headers)]) {
    headers.set(name.toLowerCase(), [name, value]);
  }
  return {
    headers: Object.fromEntries(headers.values()),
    defaultArgs: { ...own.defaultArgs, ...over.defaultArgs },
    config: Object.keys(rest).length === 0 ? null : rest,
  };
}

/** Splits stored settings, which were checked when they were set. Settings that only an older release accepted are left out. */
function split(value: JsonMap): { headers: Record<string, string>; defaultArgs: JsonMap; rest: JsonMap } {
  const { headers: _, default_args: defaults, ...rest } = value;
  const known = Known.safeParse(value);
  return {
    headers: (known.success ? known.data.headers : undefined) ?? {},
    defaultArgs: isObject(defaults) ? defaults : {},
    rest,
  };
}

/** Adds the defaults that this tool declares to the step's own arguments, which have priority. */
export function withDefaultArgs(args: JsonMap, defaults: JsonMap, inputSchema: JsonMap): JsonMap {
  const { properties } = inputSchema;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return args;
  const known = Object.entries(defaults).filter(([name]) => Object.hasOwn(properties, name));
  return known.length === 0 ? args : { ...Object.fromEntries(known), ...args };
}
