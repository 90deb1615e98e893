import { operations } from '../../server/api/operations.ts';
import { createRegistry } from '../../server/api/registry.ts';
import type { Source } from './source.ts';

/** Partly valid values, documents and messages that a client may send. */

const registry = createRegistry(operations);
/** Each operation's name, method, path, and fields. */
export const known = registry.operations.map(({ operation, inputSchema }) => ({
  name: operation.name,
  method: operation.method,
  path: operation.path,
  fields: Object.keys((inputSchema.properties as Record<string, unknown> | undefined) ?? {}),
})) as [Known, ...Known[]];
export type Known = { name: string; method: string; path: string; fields: string[] };

const texts = [
  '',
  'a',
  '\\u0000',
  '\\ud800',
  '\\udfff\\ud800',
  'a\\u0000b\\ud83d',
  '\\ufeff',
  '9007199254740993',
  ':1e400,',
  '../../etc/passwd',
  "'; DROP TABLE users; --",
  '{{input.a',
  '{{steps.a.result}}',
  '00000000-0000-7000-8000-000000000000',
  '2026-02-30T25:61:61Z',
  'https://127.0.0.1:1/',
  '__proto__',
  'constructor',
  '%s%n',
  '\u202e',
  '💥'.repeat(20),
  'x'.repeat(300),
  '('.repeat(200),
] as const;
const numbers = [
  ...['0', '-0', '-1', '1e400', '1e-400', '0.1', '-2147483649', '1E2', '1e17', '1e20', '100000000000000000000'],
  // Numbers at the limits of 2^53, 2^63 and 2^64.
  ...['9007199254740993', '7615917337495251231', '9223372036854775807', '-9223372036854775808', '-9223372036854775809'],
  ...['18446744073709551615', '18446744073709551616', '12345678901234567890123456789', '1234567890123456.5e3'],
] as const;
const names = ['__proto__', 'constructor', 'toString', 'id', 'name', 'graph', 'steps', 'type', '', 'a.b'] as const;

const text = (source: Source): string =>
  source.oneIn(4) ? JSON.stringify(source.bytes(0, 20)) : `"${source.pick(texts).replaceAll('"', '')}"`;

/** Returns the JSON text of any value. */
export function value(source: Source, depth = 0): string {
  const kind = source.between(0, depth > 4 ? 3 : 7);
  switch (kind) {
    case 0:
    case 1:
      return text(source);
    case 2:
      return source.pick(numbers);
    case 3:
      return source.pick(['null', 'true', 'false', '[]', '{}']);
    case 4:
      return `[${source.many(0, 4, () => value(source, depth + 1)).join(',')}]`;
    case 5:
      return source.oneIn(20) ? nested(source) : value(source, depth + 1);
    default:
      return `{${source.many(0, 4, () => `"${source.pick(names)}":${value(source, depth + 1)}`).join(',')}}`;
  }
}

function nested(source: Source): string {
  const levels = source.between(90, 3000);
  const [open, close] = source.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  return `${open.repeat(levels)}1${source.oneIn(3) ? '' : close.repeat(levels)}`;
}

/** Returns an object with some of an operation's fields. */
export function input(source: Source, { fields }: Known): string {
  const chosen = fields.filter(() => source.oneIn(2));
  if (source.oneIn(4)) chosen.push(source.pick(names));
  return `{${chosen.map(field => `"${field}":${value(source)}`).join(',')}}`;
}

/** Returns mostly well-formed documents, and some that are damaged. */
export function maybeDamaged(source: Source, document: string): string {
  return source.oneIn(6) ? source.mutate(document) : document;
}

const methods = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'notifications/initialized',
  'resources/read',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'nope',
] as const;

/** Returns a message of the Model Context Protocol. */
export function mcpMessage(source: Source): string {
  const id = source.pick(['1', '"a"', 'null', '-1', '1.5', '{}', '[]', '""']);
  const operation = source.pick(known);
  const params = source.oneIn(2)
    ? `{"name":"${operation.name}","arguments":${input(source, operation)}}`
    : `{"protocolVersion":${value(source)},"capabilities":${value(source)},"clientInfo":${value(source)},"cursor":${value(source)}}`;
  const version = source.oneIn(8) ? value(source) : '"2.0"';
  const message = `{"jsonrpc":${version},"id":${id},"method":"${source.pick(methods)}","params":${source.oneIn(8) ? value(source) : params}}`;
  if (source.oneIn(10)) return `[${message},${message}]`;
  return maybeDamaged(source, message);
}

/** Returns the target and the body of a tRPC call, single or in a batch. */
export function trpcCall(source: Source): { method: string; target: string; body: string | null } {
  const calls = source.many(1, source.oneIn(10) ? 60 : 3, () => source.pick(known));
  const batch = source.oneIn(2);
  const path = batch ? calls.map(({ name }) => name).join(',') : (calls[0]?.name ?? 'me');
  const inputs = maybeDamaged(
    source,
    batch
      ? `{${calls.map((call, at) => `"${at}":${input(source, call)}`).join(',')}}`
      : input(source, calls[0] ?? source.pick(known)),
  );
  const query = batch ? '?batch=1' : '?';
  if (source.oneIn(2)) return { method: 'POST', target: `/api/trpc/${path}${query}`, body: inputs };
  return {
    method: 'GET',
    target: `/api/trpc/${path}${query}&input=${encodeURIComponent(inputs.slice(0, 3000).toWellFormed())}`,
    body: null,
  };
}
