import type { AnyOperation } from '../operation/operation.ts';
import type { Link } from './links.ts';
import type { JsonSchema } from './parameters.ts';
import type { RegisteredOperation } from './registry.ts';

export type Responses = Record<string, unknown>;

/** Returns the responses of an operation. `schemaOf` returns a reference to the schema of its output. */
export function describeResponses(
  entry: RegisteredOperation,
  schemaOf: () => JsonSchema,
  links: Record<string, Link>,
): Responses {
  const { operation } = entry;
  const headers = {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    'RateLimit-Limit': { $ref: '#/components/headers/RateLimit-Limit' },
    'RateLimit-Remaining': { $ref: '#/components/headers/RateLimit-Remaining' },
    'RateLimit-Reset': { $ref: '#/components/headers/RateLimit-Reset' },
  };
  const description = operation.status === 204 ? 'Done' : operation.status === 201 ? 'Created' : 'OK';
  const success =
    operation.status === 204
      ? { description, headers }
      : {
          description,
          headers,
          ...contentOf(entry, schemaOf),
          ...(Object.keys(links).length > 0 ? { links } : {}),
        };
  const responses: Responses = { [operation.status]: success };
  if (operation.otherwise !== undefined) {
    responses[operation.otherwise.status] = { ...success, description: operation.otherwise.description };
  }
  if (operation.produces === 'text/event-stream') {
    responses[204] = { description: 'Nothing more will come: a client need not come back', headers };
  }
  for (const status of errorStatuses(operation)) responses[status] = { $ref: `#/components/responses/Error${status}` };
  return responses;
}

function contentOf(entry: RegisteredOperation, schemaOf: () => JsonSchema): Record<string, unknown> {
  const { operation } = entry;
  if (operation.produces === 'text/event-stream') {
    const description = 'Server-sent events. The data of each is JSON of the form `x-frame`.';
    return { content: { [operation.produces]: { schema: { type: 'string', description, 'x-frame': schemaOf() } } } };
  }
  if (operation.produces !== undefined) return { content: { [operation.produces]: { schema: { type: 'string' } } } };
  const text = operation.plainText === undefined ? {} : { 'text/plain': { schema: { type: 'string' } } };
  return { content: { 'application/json': { schema: schemaOf() }, ...text } };
}

function errorStatuses(operation: AnyOperation): number[] {
  const body = operation.method === 'GET' || operation.method === 'DELETE' ? [] : [400, 413, 415];
  const authorized = operation.access === 'public' ? [] : [401, 403];
  // A raw operation has no separate 404 for the resource in its path.
  const named = operation.path.includes('{') && !operation.raw;
  const resource = named || operation.feature !== undefined ? [404] : [];
  const precondition = operation.headers?.includes('If-Match') ? [412] : [];
  const all = [...body, ...authorized, ...resource, ...precondition, 422, 429, 500, 503, ...(operation.errors ?? [])];
  return [...new Set(all)].sort((a, b) => a - b);
}
