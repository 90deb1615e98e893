import { expect, test } from 'vitest';
import { fieldsToSet } from './pasted-fields.ts';

const step = {
  url: 'https://a.test/x',
  method: 'POST',
  body: { a: 1 },
  headers: { Accept: 'x' },
  timeout_s: 5,
  on_lost: 'ask',
  connection_id: 'c',
  auth: { type: 'bearer' },
  pagination: { page: {} },
};

test('a command replaces the request, and keeps the settings of the step', () => {
  const set = fieldsToSet(step, { fields: { url: 'https://a.test/y' } });
  expect(set).toMatchObject({ url: 'https://a.test/y', method: undefined, body: undefined, headers: undefined });
  for (const kept of ['timeout_s', 'on_lost', 'connection_id', 'auth', 'pagination'])
    expect(set).not.toHaveProperty(kept);
  expect(fieldsToSet(step, { fields: { url: 'https://a.test', timeout_s: 9 } })).toMatchObject({ timeout_s: 9 });
});

test('the credentials and the pagination of a step belong to its server', () => {
  const gone = { connection_id: undefined, auth: undefined, pagination: undefined };
  expect(fieldsToSet(step, { fields: { url: 'https://b.test/x' } })).toMatchObject(gone);
  expect(Object.keys(fieldsToSet(step, { fields: { url: 'https://b.test/x' } }))).toEqual(
    expect.arrayContaining(Object.keys(gone)),
  );
  expect(fieldsToSet(step, { fields: { url: 'https://A.test/z' } })).not.toHaveProperty('connection_id');
  const headers = { authorization: 'Bearer {{input.token}}' };
  expect(fieldsToSet(step, { fields: { url: 'https://a.test', headers } })).toHaveProperty('connection_id');
  expect(fieldsToSet({ url: '' }, { fields: { url: 'https://b.test' } })).not.toHaveProperty('connection_id');
});
