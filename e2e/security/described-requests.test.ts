import { setTimeout as delay } from 'node:timers/promises';
import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeApi } from '../../server/api/openapi.ts';
import type { RegisteredOperation } from '../../server/api/registry.ts';
import { scopes } from '../../server/orchestrator/ports/authority.ts';
import { readAnswer } from '../../server/testing/http-answer.ts';
import { createTestPat } from '../../server/testing/identity.ts';
import { RequestDraws, type Schema } from '../../server/testing/requests.ts';
import { testSeed } from '../../server/testing/seed.ts';
import { pathIn, registry, startTestWorlds, type TestWorlds } from '../../server/testing/world.ts';

/**
 * Draws requests from the OpenAPI document for every operation: the status and the body of each answer are as the
 * document describes, and never with a server error. The long form: BATON_TEST_REQUEST_CASES=500 vitest run (this
 * file); BATON_TEST_SEED draws others.
 */
const cases = Number(process.env.BATON_TEST_REQUEST_CASES || 6);

const document = describeApi(registry, 'https://baton.example') as Schema & { paths: Record<string, Schema> };
const draws = new RequestDraws(document);
type Parameter = { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: Schema };
type Described = {
  parameters: Schema[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, Schema>;
};
type Drawn = {
  path: string;
  query: string;
  headers: Record<string, string>;
  body: string | undefined;
  broken: string | null;
};

let worlds: TestWorlds;
let token: string;
beforeAll(async () => {
  worlds = await startTestWorlds();
  token = (await createTestPat(worlds.service.container.services, worlds.acme.owner, scopes)).token;
});
afterAll(() => worlds.close());

const describedAs = ({ operation }: RegisteredOperation) =>
  Reflect.get(document.paths[operation.path] ?? {}, operation.method.toLowerCase()) as Described;

/** Returns the text of a value in a path, a query or a header. */
const asText = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
/** Returns a value that fetch can send in a header. */
const printable = (text: string) => text.replace(/[^\x20-\x7e]/g, '?').trim();

function requests(entry: RegisteredOperation): fc.Arbitrary<Drawn> {
  const { parameters, requestBody } = describedAs(entry);
  const known = parameters.map(each => draws.resolve(each) as unknown as Parameter);
  const place = (where: Parameter['in']) => known.filter(each => each.in === where);
  const schema = requestBody?.content['application/json']?.schema;
  const own = fc.constant(pathIn(entry, worlds.acme.ids));
  // An empty segment, or one of dots, would make a different path.
  const elsewhere = fc
    .tuple(
      ...place('path').map(each =>
        draws
          .valid(each.schema)
          .filter(value => !/^\.{0,2}$/.test(asText(value)))
          .map(value => [each.name, value] as const),
      ),
    )
    .map(values =>
      values.reduce(
        (path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(asText(value))),
        entry.operation.path as string,
      ),
    );
  return fc
    .record({
      // A deleted object is missing for the following requests, so DELETE only gets ids without an object.
      path: entry.operation.method === 'DELETE' ? elsewhere : fc.oneof({ weight: 3, arbitrary: own }, elsewhere),
      ...queryAndBody(place('query'), schema),
      headers: anyOf(place('header')).map(values =>
        Object.fromEntries(values.map(([name, value]) => [name, printable(asText(value))])),
      ),
    })
    .map(({ path, headers, sent }) => ({ path, headers, ...sent }));
}

function queryAndBody(query: Parameter[], schema: Schema | undefined) {
  const fine = fc
    .tuple(anyOf(query), schema === undefined ? fc.constant(undefined) : draws.valid(schema))
    .map(([values, body]) => ({ query: queryOf(values), body: JSON.stringify(body), broken: null }));
  const broken = invalidRequests(query, schema);
  return { sent: broken === null ? fine : fc.oneof({ weight: 2, arbitrary: fine }, broken) };
}

/** Returns requests in which exactly one field violates the document. */
function invalidRequests(query: Parameter[], schema: Schema | undefined) {
  const inQuery = query.flatMap(({ name, schema: described }) => {
    // A single value in a query is parsed as a list with one item.
    const wrong = draws.invalid(described.type === 'array' ? Object(described.items) : described);
    return wrong === null
      ? []
      : [wrong.map(value => ({ query: queryOf([[name, value]]), body: undefined, broken: name }))];
  });
  const object = schema === undefined ? {} : draws.resolve(schema);
  const inBody = Object.entries(Object(object.properties) as Record<string, Schema>).flatMap(([name, described]) => {
    const wrong = draws.invalid(described);
    if (wrong === null || schema === undefined) return [];
    const whole = fc.tuple(draws.valid(schema), wrong);
    return [
      whole.map(([valid, value]) => ({
        query: '',
        body: JSON.stringify({ ...Object(valid), [name]: value }),
        broken: name,
      })),
    ];
  });
  const all = [...inQuery, ...inBody];
  return all.length === 0 ? null : fc.oneof(...all);
}

const anyOf = (parameters: Parameter[]) =>
  fc
    .tuple(
      ...parameters.map(({ name, required, schema }) => {
        const present = draws.valid(schema).map(value => [[name, value] as const]);
        return required ? present : fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, present);
      }),
    )
    .map(values => values.flat());

const queryOf = (values: readonly (readonly [string, unknown])[]) => {
  const query = new URLSearchParams(values.map(([name, value]): [string, string] => [name, asText(value)])).toString();
  return query === '' ? '' : `?${query}`;
};

const validators = new Map<string, Validator>();
/** Returns the validation errors of a body; null if the document allows it. */
function validationErrors(schema: Schema, body: unknown): string | null {
  const key = JSON.stringify(schema);
  const validator =
    validators.get(key) ?? new Validator({ ...schema, components: document.components }, '2020-12', false);
  validators.set(key, validator);
  const { valid, errors } = validator.validate(body);
  return valid ? null : JSON.stringify(errors.slice(-3));
}

/**
 * Fields with a rule that a schema cannot express: two fields exclude each other, or a field must refer to an existing
 * object. The ids of events differ between streams.
 */
const beyondSchemas: ReadonlySet<string> = new Set([
  'window',
  'from',
  'to',
  'time_zone',
  'after',
  'api_key',
  'base_url',
  'origins',
  'models',
  'context_window',
  'model',
  'Last-Event-ID',
  'folder',
  'tags',
  'add_tags',
  'remove_tags',
]);

/** Returns the fields that were refused although the document allows what was sent. */
function wronglyRefusedFields(body: unknown): unknown[] {
  const { code, details = [] } = Object(body) as { code?: string; details?: { path: string }[] };
  if (code !== 'validation_error') return [];
  return details.filter(({ path }) => !beyondSchemas.has(path.split(/[.[]/)[0] ?? ''));
}

/**
 * A request that waits for the end of a run for at most this time may time out. During a longer wait, of up to 60 s, a
 * person ends the run.
 */
const PATIENCE_S = 10;

/** Waits for the answer to a request. If the request itself waits for long, answers the task of the newest run meanwhile. */
async function answerWithTask<T>(answered: Promise<T>, { query }: Drawn): Promise<T> {
  const isLong = Number(new URLSearchParams(query).get('wait_s')) > PATIENCE_S;
  const settled = answered.then(
    () => true,
    () => true,
  );
  while (isLong && !(await Promise.race([settled, delay(200, false)]))) await answerNewestTask();
  return answered;
}

async function answerNewestTask(): Promise<void> {
  // Run ids are in the order of the runs' starts.
  const { rows } = await worlds.service.db.pool.query<{ workflow_id: string; run_id: string; step_id: string }>(
    `SELECT workflow_id, run_id, step_id FROM human_tasks
      WHERE state = 'pending' AND tenant_id = $1 AND run_id <> $2 ORDER BY run_id DESC LIMIT 1`,
    [worlds.acme.owner.tenantId, worlds.acme.ids['runs/runID']],
  );
  for (const { workflow_id, run_id, step_id } of rows) {
    const path = `/v1/workflows/${workflow_id}/runs/${run_id}/tasks/${step_id}/complete`;
    expect((await worlds.request('POST', path, { token, body: { approved: true } })).status).toBe(200);
  }
}

async function send(entry: RegisteredOperation, { path, query, headers, body }: Drawn) {
  const response = await fetch(worlds.service.url + path + query, {
    method: entry.operation.method,
    headers: {
      ...headers,
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body ?? null,
  });
  const text = await readAnswer(response);
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, body: text === '' ? undefined : isJson ? JSON.parse(text) : text, isJson };
}

// Reads come first and deletions last, so that the objects that a request needs still exist.
const order = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];
// These operations remove objects that the others need.
const last: readonly string[] = ['workflows_archive', 'mcp_servers_delete', 'projects_delete'];
const weight = ({ operation }: RegisteredOperation) =>
  last.includes(operation.name) ? order.length : order.indexOf(operation.method);
const all = [...registry.operations].sort((a, b) => weight(a) - weight(b));

describe(`${cases} requests of each operation, drawn from the document with seed ${testSeed}`, () => {
  test.each(all.map(entry => [entry.operation.name, entry] as const))('%s', async (_, entry) => {
    const { responses } = describedAs(entry);
    for (const drawn of fc.sample(requests(entry), { numRuns: cases })) {
      const { status, body, isJson } = await answerWithTask(send(entry, drawn), drawn);
      const about = `${JSON.stringify(drawn).slice(0, 2_000)} was answered ${status} ${JSON.stringify(body)}`;
      const response = responses[status];
      expect(status === 503 || status < 500, about).toBe(true);
      expect(response, about).toBeDefined();
      if (drawn.broken !== null) expect(status, about).toBeGreaterThanOrEqual(400);
      else expect(wronglyRefusedFields(body), about).toEqual([]);
      const described = draws.resolve(response ?? {}) as { content?: Record<string, { schema?: Schema }> };
      const schema = described.content?.['application/json']?.schema;
      expect(isJson, about).toBe(schema !== undefined);
      if (schema !== undefined) expect(validationErrors(schema, body), about).toBeNull();
    }
  });
});
