import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { GraphStep, JsonMap, JsonValue } from '../../core/index.ts';
import type { Attempt, GraphCheck, StepProblem } from '../../ports/step-type.ts';
import { hostileValue } from '../../simulation/hostile-values.ts';
import { Random } from '../../simulation/random.ts';
import { httpRequest } from './http-request.ts';
import type { HttpAnswer, HttpCall } from './http-requester.ts';
import { linksOf } from './links.ts';

const scope = { tenantId: 't', projectId: 'p' };
const problems = async (fields: object) => {
  const step = {
    id: 'send',
    type: 'http_request',
    url: 'https://api.example.com/x',
    ...fields,
  } as unknown as GraphStep;
  const found = await httpRequest(undefined).check(step, scope);
  return found.map(({ path, code }) => `${path} ${code}`);
};
const warnings = (fields: object) => {
  const found: string[] = [];
  const warn = ({ path, code }: StepProblem) => void found.push(`${path} ${code}`);
  const step = { id: 'send', type: 'http_request', ...fields } as unknown as GraphStep;
  httpRequest(undefined).checkInGraph?.(step, { warn } as GraphCheck);
  return found;
};
const pages = (more: object) => ({ pagination: { next: '{{response.body.next}}', ...more } });

describe('a template that can choose the server gets a warning', () => {
  const literal = { headers: { Authorization: 'Bearer abc' } };

  test.each<[string, string, object]>([
    ['after the host', 'https://api.example.com{{input.path}}', {}],
    ['after the host, before a /', 'https://api.example.com{{input.suffix}}/orders', {}],
    ['after the port', 'http://api.example.com:80{{input.port}}/orders', {}],
    ['as the port', 'https://api.example.com:{{input.port}}/', {}],
    ['as the host', 'https://{{input.host}}/orders', {}],
    ['in the host', 'https://{{input.region}}.example.com/orders', {}],
    ['after the scheme, in upper case', 'HTTPS://{{input.host}}', {}],
    ['after an address of IPv6', 'http://[::1]{{input.port}}', {}],
    ['at the beginning, with a fixed header', '{{input.base}}/orders', literal],
    ['alone, with a fixed header among others', '{{input.url}}', { headers: { a: '{{input.a}}', 'X-Api-Key': 'k' } }],
  ])('%s', (_, url, fields) => {
    expect(warnings({ url, ...fields })).toEqual(['url template_in_host']);
  });

  test.each<[string, string, object]>([
    ['after a /', 'https://api.example.com/{{input.path}}', literal],
    ['in the query', 'https://api.example.com?q={{input.q}}', literal],
    ['in the fragment', 'https://api.example.com#{{input.q}}', literal],
    ['nowhere', 'https://api.example.com', literal],
    ['at the beginning, without headers', '{{input.base}}/orders', {}],
    ['at the beginning, with headers from templates', '{{input.base}}/orders', { headers: { a: '{{input.a}}' } }],
    ['malformed', 'https://api.example.com{{input.', literal],
  ])('but not %s', (_, url, fields) => {
    expect(warnings({ url, ...fields })).toEqual([]);
  });
});

describe('checking an http_request', () => {
  test.each<[string, object]>([
    ['another scheme', { url: 'ftp://example.com' }],
    ['no host', { url: 'https://' }],
    ['a path alone', { url: '/orders' }],
    ['credentials', { url: 'https://ann:secret@example.com/' }],
    ['credentials before a template', { url: 'https://ann:secret@example.com/{{input.a}}' }],
    ['another scheme before a template', { url: 'file:///{{input.a}}' }],
  ])('refuses a URL with %s', async (_, fields) => {
    expect(await problems(fields)).toEqual(['url invalid_field']);
  });

  test.each([
    'https://{{input.host}}:{{input.port}}/a/{{input.id}}?q={{input.q}}',
    '{{input.base}}/orders',
    '{{input.scheme}}://x',
    'http://[::1]:8080/#fragment',
  ])('takes %s for a URL', async url => {
    expect(await problems({ url })).toEqual([]);
  });

  test.each<[string, object, string[]]>([
    ['a method', { method: 'TRACE' }, ['method invalid_field']],
    ['a method in lower case', { method: 'get' }, ['method invalid_field']],
    ['the name of a header', { headers: { 'a b': 'x' } }, ['headers.a b invalid_field']],
    ['a reserved header', { headers: { Host: 'x' } }, ['headers.Host invalid_field']],
    ['the value of a header', { headers: { a: 'x\r\nb: y' } }, ['headers.a invalid_field']],
    [
      'the value of a header whose name is a template',
      { headers: { '{{input.h}}': {} } },
      ['headers.{{input.h}} invalid_field'],
    ],
    ['an object as a header', { headers: { a: {} } }, ['headers.a invalid_field']],
    ['a header twice', { headers: { a: '1', A: '2' } }, ['headers.A invalid_field']],
    [
      'too many headers',
      { headers: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`x-${at}`, 1])) },
      ['headers invalid_field'],
    ],
    ['an object as a parameter', { query: { a: { b: 1 } } }, ['query.a invalid_field']],
    ['too many parameters', { query: { a: Array.from({ length: 201 }, () => 1) } }, ['query invalid_field']],
    ['a list of objects in a form', { method: 'POST', form: { a: [{}] } }, ['form.a invalid_field']],
    ['two bodies', { method: 'POST', body: {}, text: 'x' }, ['text more_than_one_body']],
    ['a body of a GET', { body: null }, ['body body_not_allowed']],
    [
      'a content type of parts',
      { method: 'POST', multipart: [{ name: 'a', value: 1 }], headers: { 'Content-Type': 'x/y' } },
      ['headers.Content-Type invalid_field'],
    ],
    ['auth without a connection', { auth: { type: 'basic' } }, ['auth invalid_field']],
    [
      'a reserved header for a key',
      { connection_id: 'c', auth: { type: 'header', name: 'Host' } },
      ['auth.name invalid_field'],
    ],
    [
      'a key without its header',
      { connection_id: 'c', auth: { type: 'header', credential: 'k' } },
      ['auth.name missing_field'],
    ],
    [
      'a header that the connection sets',
      { connection_id: 'c', headers: { authorization: 'x' } },
      ['headers.authorization invalid_field'],
    ],
    ['pages of a POST', { method: 'POST', ...pages({}) }, ['pagination invalid_field']],
    ['a next page of the input', pages({ next: '{{input.next}}' }), ['pagination.next template_malformed']],
    ['a next page that is always the same', pages({ next: '/orders' }), ['pagination.next invalid_field']],
    ['a path of items with more in it', pages({ items: 'a}} {{response.body' }), ['pagination.items invalid_field']],
    ['pages without a rule', { pagination: { items: 'a' } }, ['pagination missing_field']],
    ['pages with two rules', pages({ page: {} }), ['pagination.page invalid_field']],
    ['a flag that is no template', pages({ has_more: 'x' }), ['pagination.has_more invalid_field']],
    ['a flag with text around it', pages({ has_more: '{{response.body.a}}!' }), ['pagination.has_more invalid_field']],
    [
      'a total of the input',
      { pagination: { offset: { total: '{{input.total}}' } } },
      ['pagination.offset.total template_malformed'],
    ],
    ['a last page in numbers', { pagination: { page: { last: '7' } } }, ['pagination.page.last invalid_field']],
    ['parameters without a template', { pagination: { query: { a: 1 } } }, ['pagination.query invalid_field']],
    [
      'parameters of a step',
      { pagination: { query: { a: ['{{steps.x.result}}'] } } },
      ['pagination.query.a template_malformed'],
    ],
    ['an object as a parameter of pages', { pagination: { query: { a: {} } } }, ['pagination.query.a invalid_field']],
    ['a body of a HEAD', { method: 'HEAD', text: 'x', body_with_get: true }, ['text body_not_allowed']],
    ['a path of items with a fallback', pages({ items: 'a ?? []' }), ['pagination.items invalid_field']],
  ])('refuses %s', async (_, fields, expected) => {
    expect(await problems(fields)).toEqual(expected);
  });

  test.each<[string, object]>([
    ['by the last item', { pagination: { query: { after: '{{response.last_item.id}}', limit: 9, tags: ['a', 1] } } }],
    ['by number', { pagination: { page: { parameter: 'p', first: 0, size: 50, last: '{{response.body.pages}}' } } }],
    ['by offset', { pagination: { offset: { total: '{{response.headers.x-total ?? 0}}' }, items: 'data' } }],
    ['with a flag', pages({ has_more: '{{response.body.has_more ?? false}}' })],
    ['of a GET with a body', { body: {}, body_with_get: true, ...pages({}) }],
  ])('takes pages %s', async (_, fields) => expect(await problems(fields)).toEqual([]));

  test('leaves the values of templates to the attempt', async () => {
    const fields = {
      method: '{{input.method}}',
      query: { a: '{{input.a}}' },
      headers: { 'X-A': '{{input.a}}\n', '{{input.h}} y': 1 },
      body: '{{input.body}}',
      ...pages({ items: '["odd name"][0].list', max_pages: 3 }),
    };
    expect(await problems({ ...fields, pagination: undefined })).toEqual([]);
    expect(await problems({ ...fields, method: 'GET', body: undefined })).toEqual([]);
  });
});

describe('the limits of an http_request', () => {
  const type = httpRequest(undefined);
  const many = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => of(n));
  const record = (count: number) => Object.fromEntries(many(count, n => [`x-${n}`, 1]));
  const url = (length: number) => 'https://api.example.com/'.padEnd(length, 'x');
  const part = { name: 'a', value: 1 };
  const pagination = (max_pages: number) => ({ next: '{{response.body.next}}', max_pages });

  test.each<[string, object, object]>([
    ['8,192 characters of a URL', { url: url(8_192) }, { url: url(8_193) }],
    ['64 headers', { headers: record(64) }, { headers: record(65) }],
    ['8 KiB of a header', { headers: { a: 'x'.repeat(8_192) } }, { headers: { a: 'x'.repeat(8_193) } }],
    ['200 parameters', { query: record(200) }, { query: record(201) }],
    ['200 fields of a form', { method: 'POST', form: record(200) }, { method: 'POST', form: record(201) }],
    [
      '100 parts',
      { method: 'POST', multipart: many(100, () => part) },
      { method: 'POST', multipart: many(101, () => part) },
    ],
    ['50 statuses', { expect: many(50, n => 200 + n) }, { expect: many(51, n => 200 + n) }],
    ['the status 200', { expect: [200] }, { expect: [199] }],
    ['the status 599', { expect: [599] }, { expect: [600] }],
    ['100 pages', { pagination: pagination(100) }, { pagination: pagination(101) }],
    ['1 page', { pagination: pagination(1) }, { pagination: pagination(0) }],
  ])('%s', async (_, most, more) => {
    const findings = async (fields: object) => {
      const parsed = type.fields.safeParse({ url: 'https://api.example.com/', ...fields });
      return parsed.success ? problems(fields) : parsed.error.issues.map(({ path }) => path.join('.'));
    };
    expect(await findings(most)).toEqual([]);
    const [found, ...others] = await findings(more);
    expect(others).toEqual([]);
    // The path begins with the field.
    expect(Object.keys(more)).toContain(found?.split(/[ .]/)[0]);
  });

  test('the limits of 32 KiB for headers, and of a URL with rendered templates, are checked by the attempt', async () => {
    const codeOf = async (fields: JsonMap) => {
      const response: HttpAnswer = { kind: 'response', response: { status: 200, headers: {}, body: null } };
      const sends = httpRequest({ check: async () => [], send: async () => response });
      const step = { id: 'send', type: 'http_request', url: 'https://api.example.com/', ...fields };
      const attempt = attemptOf(step as unknown as GraphStep, { long: 'x'.repeat(8_192 - 24) });
      const outcome = await sends.execute(attempt, new AbortController().signal);
      return outcome.kind === 'failed' ? `${outcome.error.code} ${outcome.error.message}` : outcome.kind;
    };
    expect(await codeOf({ url: 'https://api.example.com/{{input.long}}' })).toBe('completed');
    expect(await codeOf({ url: 'https://api.example.com/x{{input.long}}' })).toMatch(/^invalid_step url: /);
    const headers = (size: number) => Object.fromEntries(many(4, n => [`x-${n}`, 'y'.repeat(size)]));
    expect(await codeOf({ headers: headers(8_189) })).toBe('completed');
    expect(await codeOf({ headers: headers(8_190) })).toMatch(/^invalid_step headers: /);
  });
});

const attemptOf = (step: GraphStep, input: JsonMap = {}): Attempt => ({
  run: { id: 'r', workflowId: 'w', version: 1, tenantId: 't', projectId: 'p' },
  step,
  attempt: 1,
  now: 0,
  input,
  result: () => null,
  ancestors: () => new Set<string>(),
  log: () => undefined,
});

test('a step with invalid fields fails without a request, as it does without a requester', async () => {
  const attempt = (fields: JsonMap) => {
    const step = { id: 'send', type: 'http_request', url: 'https://{{input.host}}/', ...fields };
    return attemptOf(step as unknown as GraphStep, { host: 'a/b', method: 'GET', text: 'ä\n' });
  };
  const never = { check: async () => [], send: () => Promise.reject(new Error('sent')) };
  const codeOf = async (fields: JsonMap) => {
    const outcome = await httpRequest(never).execute(attempt(fields), new AbortController().signal);
    return outcome.kind === 'failed' ? `${outcome.error.code} ${outcome.error.message}` : outcome.kind;
  };
  const url = 'https://api.example.com/';
  expect(await codeOf({})).toMatch(/^invalid_step url: is not a URL/);
  expect(await codeOf({ url, method: '{{input.method}}', body: 1 })).toMatch(/^invalid_step method: a GET request/);
  expect(await codeOf({ url, headers: { a: '{{input.text}}' } })).toMatch(/^invalid_step headers.a: holds/);
  expect(await codeOf({ url, query: { a: '{{input}}' } })).toMatch(/^invalid_step query.a: must be/);
  expect(await codeOf({ url: `${url}{{input.none}}` })).toMatch(/^template_unresolved /);
  expect(await codeOf({ url, expect: [] })).toMatch(/^invalid_step expect/);
  expect(await codeOf({ url, method: 'POST', form: { a: 'x'.repeat(4_200_000) } })).toMatch(/^invalid_step the body/);
  const outcome = await httpRequest(undefined).execute(attempt({ url }), new AbortController().signal);
  expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'step_type_unavailable' } });
});

test('names of headers, parameters and body fields may be templates, and are checked like other names', async () => {
  const sent: HttpCall[] = [];
  const send = async (call: HttpCall): Promise<HttpAnswer> => {
    sent.push(call);
    return { kind: 'response', response: { status: 200, headers: {}, body: null } };
  };
  const attempt = async (fields: JsonMap, input: JsonMap) => {
    const step = { id: 'send', type: 'http_request', url: 'https://api.example.com/', method: 'POST', ...fields };
    const given = attemptOf(step as unknown as GraphStep, input);
    const outcome = await httpRequest({ check: async () => [], send }).execute(given, new AbortController().signal);
    return outcome.kind === 'failed' ? `${outcome.error.code} ${outcome.error.message}` : outcome.kind;
  };
  const fields = {
    headers: { 'X-{{input.h}}': 'a' },
    query: { '{{input.q}}': 1 },
    body: { list: [{ '{{input.b ?? input.h}}': { "{{ '{{' }}": '{{input.q}}' } }] },
  };
  expect(await attempt(fields, { h: 'One', q: 'page' })).toBe('completed');
  expect([...(sent[0]?.headers ?? [])]).toContainEqual(['x-one', 'a']);
  expect(sent[0]).toMatchObject({ url: 'https://api.example.com/?page=1', body: '{"list":[{"One":{"{{":"page"}}]}' });
  const headers = { '{{input.h}}': 'a', 'X-A': 'b' };
  const header = async (h: JsonValue, more: JsonMap = {}) => attempt({ headers, ...more }, { h });
  expect(await header('x-a')).toMatch(/^invalid_step headers.*set twice/);
  expect(await header('X-A')).toMatch(/^template_key_invalid headers: the key .* gives "X-A"/);
  expect(await header(7)).toMatch(/^template_key_invalid headers: the key .* is a number/);
  expect(await header('a b')).toMatch(/^invalid_step headers.a b: is no name/);
  expect(await header('{{x')).toMatch(/^invalid_step headers.*is no name/);
  expect(await header('Host')).toMatch(/^invalid_step headers.Host: is set by the request itself/);
  const multipart = [{ name: 'a', value: 'b' }];
  expect(await header('Content-Type', { multipart })).toMatch(/^invalid_step headers.Content-Type: multipart sets it/);
  const bearer = { connection_id: 'c', auth: { type: 'bearer' } };
  expect(await header('authorization', bearer)).toMatch(/^invalid_step headers.authorization: the connection sets/);
  expect(sent).toHaveLength(1);
});

test('a request carries the trace context of its run, unless the step sets one', async () => {
  const sent: HttpCall[] = [];
  const send = async (call: HttpCall): Promise<HttpAnswer> => {
    sent.push(call);
    return { kind: 'failed', code: 'http_unreachable', message: 'No.', retryable: true, retryAfterMs: 5 };
  };
  const type = httpRequest({ check: async () => [], send });
  for (const headers of [{}, { Traceparent: 'own' }]) {
    const step = { id: 'send', type: 'http_request', url: 'https://api.example.com/#part', headers };
    const attempt = { ...attemptOf(step as unknown as GraphStep), traceparent: '00-trace' };
    expect(await type.execute(attempt, new AbortController().signal)).toEqual({
      kind: 'failed',
      error: { code: 'http_unreachable', message: 'No.' },
      retryable: true,
      retryAfterMs: 5,
    });
  }
  expect(sent.map(({ url, headers }) => [url, headers.get('traceparent')])).toEqual([
    ['https://api.example.com/', '00-trace'],
    ['https://api.example.com/', 'own'],
  ]);
});

test('hostile values in its fields, drawn from their schema, cause problems or failures, but no exceptions', async () => {
  const random = new Random(7);
  const response: HttpAnswer = { kind: 'response', response: { status: 200, headers: {}, body: [1] } };
  const type = httpRequest({ check: async () => [], send: async () => response });
  const outcomes = new Set<string>();
  for (let n = 0; n < 3_000; n++) {
    const drawn = random
      .some(Object.entries(type.fields.shape), 0.3)
      .map(([name, schema]) => [name, hostileValue(random, schema as z.core.$ZodType)]);
    const fields = { url: 'https://api.example.com/', ...Object.fromEntries(drawn) };
    const step = { id: 'send', type: 'http_request', ...fields } as unknown as GraphStep;
    const problems = await type.check(step, scope);
    const outcome = await type.execute(attemptOf(step), new AbortController().signal);
    outcomes.add(outcome.kind === 'failed' ? outcome.error.code : outcome.kind);
    // A problem found by the check does not depend on the input, so the attempt fails as well.
    if (problems.length > 0) expect(outcome).toMatchObject({ kind: 'failed' });
  }
  expect(outcomes).toContain('completed');
  expect(outcomes).toContain('invalid_step');
});

test('links are parsed by their relation', () => {
  expect(linksOf('<https://a.example/?b=1,2>; rel="next last"; title="x", </c>; rel=prev')).toEqual({
    next: 'https://a.example/?b=1,2',
    last: 'https://a.example/?b=1,2',
    prev: '/c',
  });
  expect(linksOf(undefined)).toEqual({});
  expect(linksOf('<a>, <b>; rel=, <'.repeat(10_000))).toEqual({});
});
