import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

/** Returns what a logger of this level writes, line by line. */
function logged(write: (logger: ReturnType<typeof createLogger>) => void, options: { traces?: boolean } = {}) {
  const lines: string[] = [];
  write(createLogger('debug', { ...options, destination: { write: line => void lines.push(line) } }));
  return { text: lines.join(''), lines: lines.map(line => JSON.parse(line) as Record<string, unknown>) };
}

const secret = 'S3CRET';

test.each([
  ['a header', { headers: { authorization: secret, Cookie: secret, 'set-cookie': [secret] } }],
  ['a header of a request in a request', { a: { b: { c: { d: { 'X-Api-Key': secret } } } } }],
  ['a field', { password: secret, access_token: secret, signingSecret: secret, client_secret: { value: secret } }],
  [
    'the secrets of a webhook',
    { headers: { 'x-service-signature': secret }, automation_bearer: secret, signing_secrets: [secret] },
  ],
  ['the key of a model', { headers: { 'x-goog-api-key': secret, 'api-key': secret }, AWS_SECRET_ACCESS_KEY: secret }],
  [
    'the credentials for Vault',
    { 'X-Vault-Token': secret, credentials: { roleId: secret }, secretId: secret, secret_id: secret },
  ],
  ['a sign-in with OAuth', { code_verifier: secret, refresh_token: secret, id_token: secret, clientSecret: secret }],
  ['a list', { connections: [{ credentials: { user: 'u', pass: secret } }, { token: secret }] }],
  ['a master key', { config: { identity: { masterKey: secret, ownerPassword: secret, pat_token: secret } } }],
])('%s leaks no credential', (_, fields) => {
  const { text } = logged(logger => logger.info(fields, 'careless'));
  expect(text).toContain('[redacted]');
  expect(text).not.toContain(secret);
});

test('fields of an error leak no credential either, and its message and stack stay', () => {
  const error = Object.assign(new Error('refused'), { config: { headers: { Authorization: secret } }, code: 'E1' });
  const { text, lines } = logged(logger => logger.error({ err: error }, 'failed'));
  expect(text).not.toContain(secret);
  expect(lines[0]?.err).toMatchObject({ message: 'refused', code: 'E1', stack: expect.stringContaining('refused') });
});

test('everything else is written unchanged', () => {
  const fields = { run_id: 'r', input_tokens: 12, token: null, nested: { ok: [1, 'two', { three: 3 }] } };
  expect(logged(logger => logger.info(fields, 'fine')).lines[0]).toMatchObject({ ...fields, msg: 'fine' });
});

test('a value that contains itself is cut, not followed', () => {
  const loop: Record<string, unknown> = { name: 'loop' };
  loop.self = loop;
  expect(logged(logger => logger.info({ loop }, 'round')).text).toContain('[too deep]');
});

test('a line about a run names its trace if runs are traced', () => {
  const fields = { run_id: '01890a5d-ac96-774b-bcce-b302099a8057' };
  const [traced] = logged(logger => logger.info(fields, 'x'), { traces: true }).lines;
  expect(traced).toMatchObject({ ...fields, trace_id: '01890a5dac96774bbcceb302099a8057' });
  expect(logged(logger => logger.info(fields, 'x')).lines[0]).not.toHaveProperty('trace_id');
  expect(logged(logger => logger.info({ a: 1 }, 'x'), { traces: true }).lines[0]).not.toHaveProperty('trace_id');
});
