import type { z } from 'zod';
import type { AnyOperation } from '../operation/operation.ts';
import { exampleOf } from './examples.ts';
import { type Link, linksFrom } from './links.ts';
import { otherPaths } from './openapi-other-paths.ts';
import { describeResponses, type Responses } from './openapi-responses.ts';
import type { JsonSchema } from './parameters.ts';
import type { RegisteredOperation, Registry } from './registry.ts';

/** Statuses that any operation may answer with, and what they mean (docs/specification/errors.md#status-codes). */
const meanings: Record<number, string> = {
  400: 'The request body or the path is malformed',
  401: 'Authentication is missing or invalid',
  403: 'The project role or the scopes of the token do not suffice',
  404: 'The resource does not exist',
  409: 'The state of the resource does not allow this',
  412: 'The resource was changed since it was read (`If-Match`)',
  428: 'The request must name the state of the resource that was reviewed (`etag` or `If-Match`)',
  413: 'The request body is larger than 1 MiB (where webhooks come in: 256 KiB)',
  415: 'The request body is not application/json (where webhooks come in: of no type that is read)',
  422: 'The request is not valid; `details` lists the fields',
  429: 'Rate limited; `Retry-After` has the seconds to wait',
  500: 'The server failed',
  503: 'A dependency is unavailable; try again after `Retry-After` seconds',
};

const requestHeaders = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Kept for 24 hours: the same key with the same body is answered with the first response, with another body 409.',
    schema: { type: 'string', pattern: '^[\\x20-\\x7e]{1,255}$' },
  },
  traceparent: {
    name: 'traceparent',
    in: 'header',
    required: false,
    description:
      'W3C trace context of the caller: where the service traces, the trace of the run is linked to it. A malformed one is ignored.',
    schema: { type: 'string', examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'] },
  },
  'X-Service-Timestamp': {
    name: 'X-Service-Timestamp',
    in: 'header',
    required: false,
    description:
      'Seconds since the Unix epoch, at most five minutes off. Where it is sent, the signature is over `<timestamp>.<raw body>`; a subscription may demand it.',
    schema: { type: 'string', pattern: '^[0-9]{1,12}$' },
  },
  'Stripe-Signature': {
    name: 'Stripe-Signature',
    in: 'header',
    required: true,
    description:
      "Stripe's signature over the raw body, keyed with the endpoint's signing secret; at most five minutes old.",
    schema: { type: 'string' },
  },
  'Last-Event-ID': {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description:
      'The id of the last event that the client has, as the stream gave it; the stream goes on after it. Browsers send it by themselves.',
    schema: { type: 'string', pattern: '^([0-9a-f-]{36}:)?[0-9]{1,9}$' },
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` with which the resource was read; 412 if it has changed since.',
    schema: { type: 'string' },
  },
} as const;

const inHeader = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description });

/** The credentials of deliveries to a webhook with a preset (docs/specification/webhooks.md#presets). */
const presetSchemes = {
  githubSignature: inHeader(
    'X-Hub-Signature-256',
    'Presets `github` and `meta`: `sha256=` and the hex HMAC-SHA256 of the raw body.',
  ),
  stripeSignature: inHeader(
    'Stripe-Signature',
    'Preset `stripe`: `t=<seconds>,v1=<hex>`, the HMAC-SHA256 of `<seconds>.<raw body>`.',
  ),
  slackSignature: inHeader(
    'X-Slack-Signature',
    'Preset `slack`: `v0=` and the hex HMAC-SHA256 of `v0:<X-Slack-Request-Timestamp>:<raw body>`.',
  ),
  standardSignature: inHeader(
    'webhook-signature',
    'Preset `standard-webhooks`: `v1,` and the Base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>`.',
  ),
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'Preset `basic`: the user name and the password of the webhook.',
  },
};
const deliverySecurity = [{ token: [], signature: [] }, ...Object.keys(presetSchemes).map(name => ({ [name]: [] }))];

/** Returns the OpenAPI 3.1 description of every route, derived from the registry. `serverUrl` is the public base URL. */
export function describeApi(registry: Registry, serverUrl: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas = new Schemas();
  for (const entry of registry.operations) {
    const { method, path } = entry.operation;
    const links = linksFrom(entry, registry.operations);
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(entry, schemas, links) };
  }
  Object.assign(paths, otherPaths());
  return {
    openapi: '3.1.0',
    info: {
      title: 'Baton',
      version: '1',
      description:
        'Workflows as graphs of steps: drafted, published as numbered versions, run durably and watched live. All routes are under `/v1`; all bodies are JSON; timestamps are ISO 8601 UTC.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set([...registry.operations.map(({ operation }) => operation.tag), 'Service'])].map(name => ({
      name,
    })),
    paths,
    components: {
      schemas: schemas.all(),
      responses: errorResponses(),
      parameters: requestHeaders,
      headers: responseHeaders,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'pat_…', description: 'A personal access token.' },
        signature: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Service-Signature',
          description:
            '`sha256=` and the hex HMAC-SHA256 of the raw body (or of `<timestamp>.<raw body>`), keyed with the whole signing secret of the subscription, `whsec_` included.',
        },
        ...presetSchemes,
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'next-auth.session-token',
          description:
            'The console’s cookie; `__Host-next-auth.session-token` over https. A request that changes state must come from the same origin.',
        },
      },
    },
  };
}

/** Schemas of the components section: written once, referred to by every operation that uses the same zod schema. */
class Schemas {
  readonly #names = new Map<z.ZodType, string>();
  readonly #schemas: Record<string, JsonSchema> = { Error: errorSchema };

  /** Returns a reference to the output schema, which is named after the first operation that uses it. */
  output(entry: RegisteredOperation): JsonSchema {
    const { operation } = entry;
    const schema = operation.output;
    const name = this.#names.get(schema) ?? `${pascal(operation.name)}Output`;
    if (!this.#names.has(schema)) {
      this.#names.set(schema, name);
      this.add(name, entry.outputSchema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** Adds a JSON Schema under a name; its own `$defs` become components too, since `$ref`s are relative to the document. */
  add(name: string, schema: JsonSchema): JsonSchema {
    const { $schema: _, $defs = {}, ...own } = schema;
    const rename = (definition: string) =>
      definition.startsWith('__schema') ? `${name}_${definition.slice(2)}` : definition;
    for (const [definition, body] of Object.entries($defs as Record<string, JsonSchema>)) {
      this.#schemas[rename(definition)] = relocate(body, rename);
    }
    this.#schemas[name] = relocate(own, rename);
    return { $ref: `#/components/schemas/${name}` };
  }

  all(): Record<string, JsonSchema> {
    return this.#schemas;
  }
}

/** Points every `$ref` into `$defs` at the components. */
function relocate(schema: JsonSchema, rename: (definition: string) => string): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith('#/$defs/')
      ? `#/components/schemas/${rename(value.slice('#/$defs/'.length))}`
      : value,
  ) as JsonSchema;
}

const pascal = (name: string) => name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function describeOperation(
  entry: RegisteredOperation,
  schemas: Schemas,
  links: Record<string, Link>,
): Record<string, unknown> {
  const { operation } = entry;
  const isPublic = operation.access === 'public';
  return {
    operationId: operation.name,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, authority(operation), availability(operation)].filter(Boolean).join('\n\n'),
    ...(isSigned(operation) ? { security: deliverySecurity } : isPublic ? { security: [] } : {}),
    parameters: [
      ...describeParameters(entry),
      ...(operation.headers ?? [])
        .filter(name => Object.hasOwn(requestHeaders, name)) // credentials stand in `security`
        .filter(name => !(isSigned(operation) && name === 'Stripe-Signature')) // there it is one of several
        .map(name => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...describeBody(entry, schemas),
    responses: describeResponses(entry, () => schemas.output(entry), links),
  };
}

const isSigned = (operation: AnyOperation) => operation.headers?.includes('X-Service-Signature') === true;

function authority(operation: AnyOperation): string {
  if (isSigned(operation)) {
    return 'Needs a token and a signature, both, or what the preset of the webhook demands instead; no session.';
  }
  if (operation.access === 'public') return 'Needs no credential.';
  const role = operation.access === 'member' ? 'Any member of the workspace' : `Role \`${operation.access}\` or higher`;
  if (operation.scope === null) return `${role}.`;
  const cases = (operation.scopesWhere ?? []).map(({ scope, when }) => `, and \`${scope}\` where ${when}`);
  return `${role}; a token needs the scope \`${operation.scope}\`${cases.join('')}.`;
}

const availability = ({ feature }: AnyOperation) =>
  feature === undefined ? '' : `404 where the deployment does not have \`${feature}\` configured.`;

function inputProperties(entry: RegisteredOperation): Record<string, JsonSchema> {
  return (entry.inputSchema.properties ?? {}) as Record<string, JsonSchema>;
}

function required(entry: RegisteredOperation): string[] {
  return Array.isArray(entry.inputSchema.required) ? entry.inputSchema.required : [];
}

function describeParameters(entry: RegisteredOperation): unknown[] {
  const properties = inputProperties(entry);
  return [...entry.parameters.keys()].map(name => {
    const { description, ...schema } = properties[name] ?? {};
    const inPath = entry.pathParameters.includes(name);
    return {
      name,
      in: inPath ? 'path' : 'query',
      required: inPath || required(entry).includes(name),
      ...(description ? { description } : {}),
      schema,
    };
  });
}

/** Returns the schema of the body: the input without its path parameters. */
function describeBody(entry: RegisteredOperation, schemas: Schemas): Record<string, unknown> {
  if (entry.carrier === 'query') return {};
  if (entry.operation.raw) {
    const types = entry.operation.raw.mediaTypes ?? ['application/json'];
    return { requestBody: { required: true, content: Object.fromEntries(types.map(type => [type, { schema: {} }])) } };
  }
  const inBody = (name: string) => !entry.parameters.has(name);
  const properties = Object.entries(inputProperties(entry)).filter(([name]) => inBody(name));
  if (properties.length === 0) return {};
  const needed = required(entry).filter(inBody);
  const { required: _, ...shape } = entry.inputSchema;
  const schema = schemas.add(`${pascal(entry.operation.name)}Input`, {
    ...shape,
    properties: Object.fromEntries(properties),
    ...(needed.length > 0 ? { required: needed } : {}),
  });
  const example = exampleOf(entry.operation.name);
  const media = { schema, ...(example === null ? {} : { example }) };
  const demanded = needed.length > 0 || Array.isArray(shape.oneOf);
  return { requestBody: { required: demanded, content: { 'application/json': media } } };
}

const text: JsonSchema = { type: 'string' };
const errorSchema: JsonSchema = {
  type: 'object',
  description: 'Every error. `error` is for people, `code` for programs.',
  required: ['error'],
  properties: {
    error: { type: 'string' },
    code: { type: 'string', description: 'Stable, snake_case' },
    details: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: text, message: text, code: text, step_id: text, hint: text },
      },
    },
    request_id: { type: 'string', description: 'Also in the X-Request-Id header' },
  },
};

const integerHeader = (description: string) => ({ description, schema: { type: 'integer' } });
const responseHeaders = {
  'X-Request-Id': { description: 'The request’s own id, or the sane one it sent', schema: { type: 'string' } },
  'RateLimit-Limit': integerHeader('Requests a minute'),
  'RateLimit-Remaining': integerHeader('Requests left in this minute'),
  'RateLimit-Reset': integerHeader('Seconds until the next minute starts'),
  'Retry-After': integerHeader('Seconds to wait'),
};

function errorResponses(): Responses {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  return Object.fromEntries(
    Object.entries(meanings).map(([status, description]) => {
      const waits = status === '429' || status === '503';
      const headers = waits ? { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } } : {};
      return [`Error${status}`, { description, ...headers, content }];
    }),
  );
}
