import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { describeApi } from './openapi.ts';
import { operations } from './operations.ts';
import { createRegistry } from './registry.ts';

type Described = {
  paths: Record<
    string,
    Record<string, { operationId: string; parameters?: object[]; responses: Record<string, object> }>
  >;
  components: { schemas: Record<string, object> };
};

const document = describeApi(createRegistry(operations), 'https://baton.example');
const described = document as unknown as Described;

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

test('every operation is described, once', () => {
  const ids = Object.values(described.paths).flatMap(path => Object.values(path).map(({ operationId }) => operationId));
  expect(new Set(ids).size).toBe(ids.length);
  for (const { name } of operations) expect(ids).toContain(name);
});

test('every reference resolves', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(match => match[1] ?? '');
  expect(references.length).toBeGreaterThan(100);
  for (const reference of new Set(references)) {
    const target = reference.split('/').reduce<unknown>((at, key) => Reflect.get(Object(at), key), document);
    expect(target, reference).toBeTypeOf('object');
  }
});

test('path parameters are in the path, never in the body', () => {
  const patch = described.paths['/v1/workflows/{id}']?.patch;
  expect(patch?.parameters).toContainEqual(expect.objectContaining({ name: 'id', in: 'path', required: true }));
  expect(patch?.parameters).toContainEqual({ $ref: '#/components/parameters/If-Match' });
  expect(described.components.schemas.WorkflowsPatchInput).not.toHaveProperty('properties.id');
  expect(Object.keys(patch?.responses ?? {})).toEqual(
    expect.arrayContaining(['200', '401', '403', '404', '412', '422']),
  );
});

test('the stream is described', () => {
  expect(described.paths['/v1/workflows/{id}/stream']?.get).toMatchObject({ responses: { 101: {} } });
});

test('the ingress of webhooks is described with its credentials and any JSON', () => {
  const ingress = described.paths['/v1/inbound-webhooks/{id}']?.post;
  expect(ingress).toMatchObject({
    security: [
      { token: [], signature: [] },
      { githubSignature: [] },
      { stripeSignature: [] },
      { slackSignature: [] },
      { standardSignature: [] },
      { basic: [] },
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: {} },
        'application/cloudevents+json': { schema: {} },
        'application/x-www-form-urlencoded': { schema: {} },
        'text/plain': { schema: {} },
        'application/xml': { schema: {} },
      },
    },
  });
  expect(Object.keys(ingress?.responses ?? {})).toEqual(
    expect.arrayContaining(['202', '400', '401', '409', '413', '415', '503']),
  );
  expect(Object.keys(ingress?.responses ?? {})).not.toContain('404');
  expect(ingress?.parameters).not.toContainEqual({ $ref: '#/components/parameters/Authorization' });
});

test('a request that requires a body has an example, and a created resource links to operations by its id', () => {
  type Operation = { requestBody?: { required: boolean; content: Record<string, { example?: object }> } };
  const bodies = Object.values(described.paths).flatMap(path =>
    Object.entries(path)
      .filter(([, each]) => (each as Operation).requestBody?.required)
      .map(([, each]) => each as Operation & { operationId: string }),
  );
  const raw = ['webhooks_ingest', 'webhooks_ingest_callback', 'billing_provider_webhook'];
  expect(
    bodies
      .filter(({ requestBody }) => requestBody?.content['application/json']?.example === undefined)
      .map(({ operationId }) => operationId)
      .sort(),
  ).toEqual([...raw].sort());
  const created = described.paths['/v1/workflows']?.post?.responses[201];
  expect(created).toMatchObject({
    links: { workflows_get: { operationId: 'workflows_get', parameters: { id: '$response.body#/id' } } },
  });
  expect(described.paths['/v1/workflows/{id}/command']?.post?.responses[200]).toMatchObject({
    links: { runs_get_summary: { parameters: { id: '$request.path.id', runID: '$response.body#/run_id' } } },
  });
});

test('every link names an operation and all its path parameters', () => {
  const { byName } = createRegistry(operations);
  const links = [...JSON.stringify(document).matchAll(/\{"operationId":"(\w+)","parameters":(\{[^}]*\})/g)];
  expect(links.length).toBeGreaterThan(20);
  for (const [, name = '', parameters = ''] of links) {
    expect(Object.keys(JSON.parse(parameters)), name).toEqual(byName.get(name)?.pathParameters);
  }
});
