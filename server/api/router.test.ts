import { describe, expect, test } from 'vitest';
import { createRouter } from './router.ts';

const routes = [
  ['GET', '/v1/workflows'],
  ['GET', '/v1/workflows/{id}'],
  ['DELETE', '/v1/workflows/{id}'],
  ['POST', '/v1/workflows/import'],
  ['GET', '/v1/workflows/{id}/runs'],
  ['GET', '/v1/workflows/special/other'],
  ['POST', '/v1/inbound-webhooks/{id}'],
  ['GET', '/v1/runs/{id}/tasks/{task}'],
].map(([method = '', path = '']) => ({ method, path, value: `${method} ${path}` }));
const router = createRouter(routes);
const found = (value: string, ...parameters: string[]) => ({ kind: 'found', value, parameters });

describe('matching', () => {
  test.each([
    ['GET', '/v1/workflows', found('GET /v1/workflows')],
    ['GET', '/v1/workflows/7', found('GET /v1/workflows/{id}', '7')],
    ['GET', '/v1/runs/1/tasks/2', found('GET /v1/runs/{id}/tasks/{task}', '1', '2')],
    ['POST', '/v1/workflows/import', found('POST /v1/workflows/import')],
  ])('%s %s', (method, path, expected) => {
    expect(router.match(method, path)).toEqual(expected);
  });

  test('a literal that leads nowhere falls back to the parameter', () => {
    expect(router.match('GET', '/v1/workflows/special/runs')).toEqual(found('GET /v1/workflows/{id}/runs', 'special'));
  });

  test.each(['GET', 'PUT', 'OPTIONS'])('a literal path has only its own methods, without %s', method => {
    expect(router.match(method, '/v1/workflows/import')).toEqual({ kind: 'method', allow: ['POST'] });
  });

  test('another method names every method of the path', () => {
    expect(router.match('PUT', '/v1/workflows/7')).toEqual({ kind: 'method', allow: ['DELETE', 'GET'] });
  });

  test.each(['/v1', '/v1/workflows/', '/v1//workflows', '/v1/workflows/7/', '/v1/runs/1/tasks/', '/v1/WORKFLOWS'])(
    'no route: %s',
    path => {
      expect(router.match('GET', path)).toEqual({ kind: 'none' });
    },
  );
});

describe('percent escapes', () => {
  test('are decoded once', () => {
    expect(router.match('GET', '/v1/workflows/a%252Fb')).toEqual(found('GET /v1/workflows/{id}', 'a%2Fb'));
  });

  test('an escaped slash stays inside its parameter', () => {
    expect(router.match('GET', '/v1/workflows/7%2Fruns')).toEqual(found('GET /v1/workflows/{id}', '7/runs'));
    expect(router.match('GET', '/v1%2Fworkflows')).toEqual({ kind: 'none' });
  });

  test('an escaped dot is a parameter like any other', () => {
    expect(router.match('GET', '/v1/runs/1/tasks/%2e%2e')).toEqual(found('GET /v1/runs/{id}/tasks/{task}', '1', '..'));
  });

  test('an escaped letter of a literal matches that letter', () => {
    expect(router.match('GET', '/v1/work%66lows')).toEqual(found('GET /v1/workflows'));
  });

  test.each(['/v1/workflows/%', '/v1/workflows/%zz', '/v1/workflows/%ff'])('malformed: %s', path => {
    expect(() => router.match('GET', path)).toThrow(expect.objectContaining({ status: 400, code: 'malformed_path' }));
  });
});
