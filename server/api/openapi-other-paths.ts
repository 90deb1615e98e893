import type { Responses } from './openapi-responses.ts';

/** Describes the routes that are not operations: pages for programs, and the event stream. */
export function otherPaths(): Record<string, unknown> {
  const error = (status: number) => ({ $ref: `#/components/responses/Error${status}` });
  const page = (summary: string, contentType: string, responses: Responses = {}, parameters: unknown[] = []) => ({
    get: {
      operationId: summary.toLowerCase().replace(/[^a-z]+/g, '_'),
      tags: ['Service'],
      summary,
      security: [],
      ...(parameters.length === 0 ? {} : { parameters }),
      responses: { 200: { description: 'OK', content: { [contentType]: {} } }, ...responses },
    },
  });
  const role = { name: 'role', in: 'query', schema: { enum: ['any'] }, description: 'any: 200 for a standby, too' };
  return {
    '/v1/workflows/{id}/stream': { get: describeStream(error) },
    '/v1/openapi.json': page('This description', 'application/json', { 429: error(429) }),
    '/healthz': page('Process is up', 'application/json'),
    '/readyz': page(
      'Ready for traffic',
      'application/json',
      {
        422: error(422),
        503: { description: 'Not ready: standby, or the database is away', content: { 'application/json': {} } },
      },
      [role],
    ),
    '/metrics': page('Prometheus metrics', 'text/plain', Object.fromEntries([401, 429].map(n => [n, error(n)]))),
  };
}

function describeStream(error: (status: number) => unknown): Record<string, unknown> {
  const uuid = { type: 'string', format: 'uuid' };
  return {
    operationId: 'workflows_stream',
    tags: ['Runs'],
    summary: 'Watch the events of a workflow live (WebSocket)',
    description: [
      'A WebSocket. Credentials: the console’s cookie (same origin only), the Authorization header, or the subprotocols `bearer, <token>`. Role `project_viewer` or higher; a token needs the scope `workflow:read`.',
      'Frames are JSON text: `{"type":"event","event":{…}}` with the event record of the event list, `{"type":"ready"}` once the replay is over, `{"type":"error","error":…}`.',
      'Close codes: 1001 the server is shutting down, 1012 the feed was interrupted, 4003 the credential no longer allows this, 4008 the client reads too slowly. Resume with `after`.',
    ].join('\n\n'),
    parameters: [
      { name: 'id', in: 'path', required: true, schema: uuid },
      { name: 'run_id', in: 'query', required: false, description: 'Only this run’s events', schema: uuid },
      {
        name: 'after',
        in: 'query',
        required: false,
        description: 'With `run_id`: replay the log after this `seq` first',
        schema: { type: 'integer', minimum: 0 },
      },
      {
        name: 'tenant_id',
        in: 'query',
        required: false,
        description: 'Stands for the header X-Tenant-Id, which a browser cannot set on a socket',
        schema: { type: 'string' },
      },
      {
        name: 'project_id',
        in: 'query',
        required: false,
        description: 'Stands for the header X-Project-Id',
        schema: { type: 'string' },
      },
    ],
    responses: {
      101: { description: 'Switching to WebSocket' },
      401: error(401),
      403: error(403),
      404: error(404),
      422: error(422),
      426: { description: 'Requested without an upgrade', content: { 'application/json': {} } },
      429: error(429),
      503: error(503),
    },
  };
}
