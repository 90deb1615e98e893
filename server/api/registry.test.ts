import { expect, test } from 'vitest';
import { z } from 'zod';
import type { AnyOperation } from '../operation/operation.ts';
import { MAX_INTEGER } from '../operation/wire.ts';
import { reservedScopes, scopes } from '../orchestrator/ports/authority.ts';
import { operations } from './operations.ts';
import { createRegistry } from './registry.ts';

const base: AnyOperation = {
  name: 'things_get',
  method: 'GET',
  path: '/v1/things/{id}',
  status: 200,
  tag: 'Things',
  summary: 'Get a thing',
  access: 'project_viewer',
  scope: 'workflow:read',
  input: z.strictObject({ id: z.uuid() }),
  output: z.strictObject({ id: z.string() }),
  run: async () => ({ id: '1' }),
};
const declared = (changes: object): AnyOperation => ({ ...base, ...changes }) as AnyOperation;

test('the declarations of the service’s operations are consistent', () => {
  expect(createRegistry(operations).operations.length).toBe(operations.length);
});

test('every scope guards an operation, except those of planned features', () => {
  const guarding = new Set(
    operations.flatMap((each: AnyOperation) => [
      each.access === 'public' ? null : each.scope,
      ...(each.scopesWhere ?? []).map(({ scope }) => scope),
    ]),
  );
  expect(scopes.filter(scope => !guarding.has(scope)).sort()).toEqual([...reservedScopes].sort());
});

test('every list has the same parameters', () => {
  const lists = createRegistry(operations).operations.filter(
    ({ operation }) => operation.output instanceof z.ZodObject && Object.hasOwn(operation.output.shape, 'next_cursor'),
  );
  expect(lists.length).toBeGreaterThan(20);
  for (const { operation, inputSchema } of lists) {
    const { limit, cursor } = Object(inputSchema.properties) as Record<string, object | undefined>;
    const events = operation.name === 'runs_list_events';
    expect(limit, operation.name).toMatchObject({
      minimum: 1,
      ...(events ? { maximum: 1000, default: 200 } : { maximum: 200, default: 50 }),
    });
    expect(cursor, operation.name).toMatchObject({ type: 'string' });
  }
});

test('every integer of an input fits the column with which it is compared', () => {
  /** Amounts of money are bigint; a format's number is a constant. */
  const wider: readonly string[] = ['billing_topup_intent amount', 'workflows_import baton'];
  const unbounded: string[] = [];
  const walk = (name: string, schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { type, minimum, maximum } = schema as { type?: unknown; minimum?: number; maximum?: number };
    const bounded = (minimum ?? -Infinity) >= -MAX_INTEGER && (maximum ?? Infinity) <= MAX_INTEGER;
    if ((type === 'integer' || type === 'number') && !bounded) unbounded.push(name);
    for (const child of Object.values(schema)) walk(name, child);
  };
  for (const { operation, inputSchema } of createRegistry(operations).operations) {
    const properties = Object(inputSchema.properties) as Record<string, unknown>;
    for (const [field, schema] of Object.entries(properties)) walk(`${operation.name} ${field}`, schema);
  }
  expect(unbounded.sort()).toEqual([...wider].sort());
});

test.each<[string, AnyOperation[], RegExp]>([
  ['a name twice', [base, declared({ path: '/v1/others/{id}' })], /things_get: the name is declared twice/],
  [
    'one route twice',
    [base, declared({ name: 'b_get', path: '/v1/things/{id}' })],
    /b_get: GET \/v1\/things\/\{\} already belongs/,
  ],
  [
    'one route under another parameter name',
    [base, declared({ name: 'b_get', path: '/v1/things/{key}', input: z.strictObject({ key: z.string() }) })],
    /already belongs to things_get/,
  ],
  ['an unknown scope', [declared({ scope: 'workflow:fly' })], /unknown scope "workflow:fly"/],
  ['an unknown role', [declared({ access: 'king' })], /unknown role "king"/],
  ['a path parameter without a field', [declared({ input: z.strictObject({}) })], /\{id\} is missing from the input/],
  [
    'an input that lets unknown fields pass',
    [declared({ input: z.object({ id: z.string() }) })],
    /not one strict object/,
  ],
  [
    'a query parameter that is an object',
    [declared({ input: z.strictObject({ id: z.string(), filter: z.strictObject({ a: z.string() }) }) })],
    /"filter" cannot be written as text/,
  ],
  [
    'a path parameter named twice',
    [declared({ path: '/v1/things/{id}/parts/{id}' })],
    /a path parameter is named twice/,
  ],
  ['a name that is no snake_case', [declared({ name: 'thingsGet' })], /not snake_case/],
  ['a name that tRPC reserves', [declared({ name: 'then' })], /reserved/],
  ['a malformed path', [declared({ path: '/v1/things/{id}/' })], /malformed path segment/],
  ['the route of the stream', [declared({ path: '/v1/workflows/{id}/stream' })], /served by the API itself/],
  ['a 204 that promises a body', [declared({ status: 204 })], /204 sends no body/],
  ['an unknown header', [declared({ headers: ['X-Other'] })], /unknown header "X-Other"/],
  ['a raw body behind a credential', [declared({ raw: { limit: 1 }, method: 'POST' })], /only for a public POST/],
  ['a raw body of a GET', [declared({ raw: { limit: 1 }, access: 'public' })], /only for a public POST/],
])('refuses %s', (_, contradictory, message) => {
  expect(() => createRegistry(contradictory)).toThrow(message);
});

test('reports all contradictions together', () => {
  expect(() => createRegistry([declared({ scope: 'a', name: 'B' })])).toThrow(/snake_case.*\n.*unknown scope/);
});
