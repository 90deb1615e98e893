import { expect, test } from 'vitest';
import { readError } from './errors.ts';

function failed(data: unknown): Error {
  return Object.assign(new Error('No such workflow.'), { data });
}

test('an error of the API keeps its status, code, details and request', () => {
  const details = [{ path: 'graph.steps.0', message: 'Unknown type.', code: 'unknown_type', step_id: 'a' }];
  expect(readError(failed({ status: 422, code: 'invalid', details, request_id: 'r-1' }))).toEqual({
    message: 'No such workflow.',
    status: 422,
    code: 'invalid',
    details: [{ path: 'graph.steps.0', message: 'Unknown type.', code: 'unknown_type' }],
    requestId: 'r-1',
  });
});

test('an error of tRPC itself has the status of its response', () => {
  expect(readError(failed({ code: 'NOT_FOUND', httpStatus: 404 }))).toMatchObject({ status: 404, code: 'NOT_FOUND' });
});

test('a field of an unexpected type is left out', () => {
  const data = {
    status: '422',
    code: 7,
    details: [null, { path: 'name' }, { path: '', message: 'x', code: 1 }],
    request_id: null,
  };
  expect(readError(failed(data))).toEqual({
    message: 'No such workflow.',
    status: 500,
    code: '',
    details: [{ path: '', message: 'x' }],
    requestId: undefined,
  });
});

test.each([undefined, null, 'text'])('an error with the data %j has no status', data => {
  expect(readError(failed(data))).toMatchObject({ message: 'No such workflow.', status: 0 });
});

test('a request that did not reach the server has a message about the connection', () => {
  const unreachable = 'The server cannot be reached. Check your connection and try again.';
  expect(readError(new TypeError('Failed to fetch')).message).toBe(unreachable);
  expect(readError(new Error('Failed', { cause: new TypeError('Failed to fetch') })).message).toBe(unreachable);
  expect(readError('plain').message).toBe('plain');
});

test('an answer that is not from tRPC keeps its status and its text', () => {
  const answered = (status: number, responseJSON?: unknown) =>
    Object.assign(new Error('Unable to transform response from server'), {
      meta: { response: new Response(null, { status }), responseJSON },
    });
  const tooLarge = { error: 'The body is larger than 1 MiB.', code: 'payload_too_large', request_id: 'r-1' };
  expect(readError(answered(413, tooLarge))).toMatchObject({
    message: 'The body is larger than 1 MiB.',
    status: 413,
    code: 'payload_too_large',
    requestId: 'r-1',
  });
  expect(readError(answered(502))).toMatchObject({ message: 'The server answered 502.', status: 502 });
});
