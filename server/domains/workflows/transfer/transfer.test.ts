import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { AppError } from '../../../platform/errors.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { call, chain, contextFor, createServicesWithSteps, refusal } from '../../../testing/workflows.ts';
import { workflowOperations } from '../operations.ts';
import { readDocumentText } from './parse-document.ts';
import { readYaml } from './yaml.ts';
import { YamlReaders } from './yaml-readers.ts';

const {
  workflows_create: create,
  workflows_export: exporting,
  workflows_import: importing,
} = operationsByName(workflowOperations);

let db: TestDatabase;
let services: Services;
let close: () => Promise<void>;
let tenant: TestTenant;
let other: TestTenant;

beforeAll(async () => {
  db = await createTestDatabase();
  ({ services, close } = createServicesWithSteps(db));
  tenant = await createTestTenant(services, { slug: 'acme' });
  other = await createTestTenant(services, { slug: 'rival' });
});
afterAll(async () => {
  await close();
  await db.close();
});

const as = (principal = tenant.contributor) => contextFor(services, principal);
const tricky = {
  steps: [
    {
      id: 'a',
      type: 'lua_script',
      script: '-- "quotes": *not* an &alias\nreturn {x = "yes"}\n\n',
      name: 'no',
      position: { x: 1.5, y: -3 },
    },
    { id: 'b', type: 'condition', expression: '1 < 2', then: [], depends_on: ['a'] },
  ],
  tool: { name: 'no', description: 'yes: *no*', read_only: false },
};
const source = {
  name: 'Näme: # "x"',
  description: '# Title\n\ntext: 1\n',
  graph: tricky,
  run_setup: { trigger_payload: { on: 'off', n: 1e21, deep: [null, { '': 0 }] } },
};

describe('a document', () => {
  test.each(['json', 'yaml'] as const)(
    'survives export and import as %s unchanged, also into another tenant',
    async format => {
      const made = await call(create, as(), source);
      const document = await call(exporting, as(tenant.viewer), { id: made.id, format });
      const copy = await call(importing, as(other.owner), document);
      expect(copy).toMatchObject({ ...source, status: 'draft', tenant_id: 'rival', latest_version: null });
      expect(copy.id).not.toBe(made.id);
      expect(JSON.stringify(document)).not.toContain(made.id);
      expect(JSON.stringify(document)).not.toContain('acme');
    },
  );

  test('may be JSON text as well', async () => {
    const text = JSON.stringify({ baton: 1, kind: 'workflow', name: 'Text', graph: chain('a') });
    expect(await call(importing, as(), { document: text })).toMatchObject({
      name: 'Text',
      description: '',
      run_setup: {},
    });
  });

  test.each([
    ['text', (document: object) => ({ document: JSON.stringify(document) })],
    ['fields', (document: object) => document],
  ])('as people write it, with a name and a graph, is read as %s', async (_, given) => {
    const document = { name: 'Written', graph: chain('a') };
    expect(await call(importing, as(), given(document) as never)).toMatchObject(document);
    for (const wrong of [{ baton: 2 }, { kind: 'agent' }])
      expect((await refusal(call(importing, as(), given({ ...document, ...wrong }) as never))).status).toBe(422);
  });

  test('of another tenant is 404', async () => {
    const made = await call(create, as(), source);
    expect((await refusal(call(exporting, as(other.owner), { id: made.id }))).status).toBe(404);
  });
});

describe('that is invalid is 422', () => {
  const valid = { baton: 1, kind: 'workflow', name: 'x', graph: { steps: [] } };
  test.each<[string, unknown]>([
    ['nothing', {}],
    ['another version', { ...valid, baton: 2 }],
    ['another kind', { ...valid, kind: 'agent' }],
    ['no name', { ...valid, name: undefined }],
    ['no graph', { ...valid, graph: undefined }],
    ['both forms', { ...valid, document: '{}' }],
    ['an unknown field', { ...valid, secret: 1 }],
    ['an unknown field in the text', { document: JSON.stringify({ ...valid, id: 'x' }) }],
    ['text that is a list', { document: '- 1' }],
    ['empty text', { document: '' }],
    ['a comment', { document: '# nothing' }],
    ['broken YAML', { document: 'baton: [1' }],
    ['two documents', { document: 'a: 1\n---\nb: 2' }],
    ['an alias', { document: 'a: &x [1]\nb: *x' }],
    ['a tag', { document: 'a: !!js/function "x"' }],
    [
      'not a number',
      { document: 'baton: 1\nkind: workflow\nname: x\ngraph: {steps: [{id: a, type: lua_script, timeout_s: .nan}]}' },
    ],
    ['too much', { document: `# ${'x'.repeat(1_048_576)}` }],
  ])('%s', async (_what, input) => {
    expect((await refusal(call(importing, as(), input))).status).toBe(422);
  });
});

describe('a key that is given twice', () => {
  test.each<[document: string, message: string]>([
    ['baton: 1\nname: a\nkind: workflow\nname: b\n', 'the key "name" is given twice, on line 2 and on line 4'],
    [
      'graph:\n  steps:\n    - id: a\n      type: x\n      id: b\n',
      'the key "id" is given twice, on line 3 and on line 5',
    ],
    ['a: {b: 1, c: 2, "b": 3}', 'the key "b" is given twice, on line 1 and on line 1'],
    // JSON has only the second key form, so both keys are equal.
    ['1: a\n"1": b', 'the key "1" is given twice, on line 1 and on line 2'],
    ['~: a\n"": b', 'the key "" is given twice, on line 1 and on line 2'],
    ['? [a]\n: 1\n? [a]\n: 2', 'is given twice, on line 1 and on line 3'],
    ['__proto__: 1\n__proto__: 2', 'the key "__proto__" is given twice'],
    ['# a comment\n\n{a: 1,\n a: 2}', 'the key "a" is given twice, on line 3 and on line 4'],
  ])('is refused with its lines: %j', async (document, message) => {
    const { status, details } = await refusal(call(importing, as(), { document }));
    expect([status, details]).toEqual([422, [{ path: 'document', message: expect.stringContaining(message) }]]);
  });

  test('in different maps is accepted', () => {
    expect(readYaml('a: {n: 1}\nb: {n: 2}\nc: [{n: 3}, {n: 4}]')).toMatchObject({ ok: true });
  });

  test('is found in linear time', () => {
    const keys = Array.from({ length: 60_000 }, (_, at) => `k${at}: 1`).join('\n');
    expect(readYaml(`${keys}\nk7: 1`)).toEqual({
      ok: false,
      message: 'the key "k7" is given twice, on line 8 and on line 60001',
    });
  });
});

describe('hostile text', () => {
  test('nested ten thousand deep is refused, as YAML and as JSON', async () => {
    const json = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    for (const document of [json, '['.repeat(10_000), '{a: '.repeat(10_000), '- '.repeat(10_000)]) {
      expect((await refusal(call(importing, as(), { document }))).status).toBe(422);
    }
  });

  test('that keeps the YAML library busy delays no other reader', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const reading = readDocumentText('"'.repeat(30_000), 'acme');
    await expect(reading).rejects.toThrow(AppError);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
  });

  test('that fills any heap ends only the process that reads it', async () => {
    for (const document of [`a: [${'{},'.repeat(330_000)}`, '{'.repeat(1_000_000)]) {
      expect((await refusal(call(importing, as(), { document }))).status).toBe(422);
    }
    expect(await readDocumentText('a: 1', 'acme')).toEqual({ a: 1 });
  });

  test('is read by at most two processes, one for each tenant, and a tenant may have four texts at once', async () => {
    const readers = new YamlReaders();
    const document = '"'.repeat(15_000);
    const reading = ['acme', 'rival'].flatMap(name => Array.from({ length: 4 }, () => readers.read(name, document)));
    expect(readers.processes).toBe(2);
    await expect(readers.read('acme', document)).rejects.toMatchObject({ status: 429, code: 'too_many_imports' });
    const third = readers.read('third', 'a: 1');
    expect(await third).toEqual({ ok: true, json: '{"a":1}' });
    // The later texts of the first tenant have not been read yet: another tenant waits for one turn, not for all
    // earlier texts.
    expect(await Promise.race([Promise.all(reading), 'not yet'])).toBe('not yet');
    await Promise.all(reading);
    expect(readers.processes).toBe(0);
    expect(await readers.read('acme', 'a: 1')).toMatchObject({ ok: true });
  });

  test('cannot reach a prototype', async () => {
    const read = (await readDocumentText(
      '__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}',
      'acme',
    )) as object;
    expect(Object.keys(read)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('of any kind is read or refused, without any other outcome', () => {
    const fragments = fc.constantFrom(
      ...['- ', ': ', '\n', '  ', '{', '}', '[', ']', '&a ', '*a', '!!str ', '|', '>', '"', "'", '#', '? '],
      ...['---\n', '...\n', '<<: ', '%YAML 1.1\n', '\t', 'key', '1', '~', '\0', '\ud800', 'graph', 'steps'],
    );
    const text = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.array(fragments, { minLength: 1, maxLength: 40 }).map(parts => parts.join('')),
    );
    fc.assert(
      fc.property(text, input => {
        const read = readYaml(input);
        if (read.ok) JSON.stringify(read.value);
        else expect(read.message).toMatch(/./);
      }),
      { numRuns: 3000 },
    );
  });
});
