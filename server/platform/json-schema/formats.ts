import { format as formats } from '@cfworker/json-schema';

/** The library's formats are backtracking expressions, harmless on short texts only. */
const MAX_FORMATTED_LENGTH = 2_000;

type Format = { test: (text: string) => boolean; named: string };

/** RFC 3339 requires seconds and an offset of a time of day; a browser's time field and Pydantic give neither. */
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)?$/i;

const fromLibrary = (name: string, named: string): [string, Format] => [
  name,
  { test: text => formats[name]?.(text) ?? true, named },
];

const KNOWN: ReadonlyMap<string, Format> = new Map<string, Format>([
  fromLibrary('date', 'a date, such as 2026-01-31'),
  fromLibrary('date-time', 'a date and time with an offset, such as 2026-01-31T08:00:00Z'),
  ['time', { test: text => TIME.test(text) || (formats.time?.(text) ?? false), named: 'a time, such as 08:00' }],
  fromLibrary('duration', 'an ISO 8601 duration, such as PT15M'),
  fromLibrary('email', 'an email address'),
  fromLibrary('hostname', 'a host name'),
  fromLibrary('ipv4', 'an IPv4 address'),
  fromLibrary('ipv6', 'an IPv6 address'),
  fromLibrary('uri', 'an absolute URL'),
  // The library's own expression for `url` is exponential.
  ['url', { test: text => URL.canParse(text), named: 'an absolute URL' }],
  fromLibrary('uuid', 'a UUID'),
]);

/** Returns whether a format is enforced. Every other one is an annotation. */
export const isEnforcedFormat = (name: unknown): name is string => typeof name === 'string' && KNOWN.has(name);

/** Returns what a text of a format should have been, such as “a date”; undefined if it is, or if the format is an annotation. */
export function formatProblem(name: string, text: string): string | undefined {
  const format = KNOWN.get(name);
  if (format === undefined || (text.length <= MAX_FORMATTED_LENGTH && format.test(text))) return undefined;
  return format.named;
}
