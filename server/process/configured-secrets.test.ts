import { afterAll, describe, expect, test } from 'vitest';
import { configVariables, readConfig } from '../operation/config.ts';
import { SECRET_VARIABLES } from '../operation/setting-files.ts';
import { createLogger } from '../platform/logger.ts';
import { registerProcessSecrets } from '../platform/secrets/in-use.ts';
import { configuredSecrets } from './configured-secrets.ts';

const masterKey = (fill: number) => Buffer.alloc(32, fill).toString('base64');
/** Each variable that holds a secret, and the secret part of its value. */
const secretParts: Record<string, string> = {
  BATON_METRICS_TOKEN: 'metrics-token-0001',
  DATABASE_URL: 'database-password%2F2',
  BATON_OWNER_PASSWORD: 'owner "password" 3',
  BATON_PAT: 'pat_of-the-first-owner-4',
  BATON_MASTER_KEY: masterKey(5),
  BATON_MASTER_KEY_PREVIOUS: masterKey(6),
  BATON_VAULT_TOKEN: 'hvs.vault-token-7',
  BATON_SUITE_CLIENT_SECRET: 'suite-client-secret-8',
  BATON_MESSAGING_CLIENT_SECRET: 'messaging-client-secret-9',
  BATON_SMTP_URL: 'smtp-password-10',
  BATON_STRIPE_SECRET_KEY: 'sk_live_11',
  BATON_STRIPE_WEBHOOK_SECRET: 'whsec_stripe_12',
  BATON_OIDC_CLIENT_SECRET: 'sign-on-client-secret-14',
  BATON_VAULT_SECRET_ID: 'vault-secret-id-13',
};
const { BATON_VAULT_SECRET_ID: secretId = '', ...others } = secretParts;
const endpoints = (of: string) => ({
  [`BATON_${of}_AUTHORIZATION_ENDPOINT`]: 'https://id.example.com/authorize',
  [`BATON_${of}_TOKEN_ENDPOINT`]: 'https://id.example.com/token',
  [`BATON_${of}_CLIENT_ID`]: 'baton',
});
const base = {
  ...others,
  DATABASE_URL: `postgres://baton:${secretParts.DATABASE_URL}@db.example.com/baton`,
  BATON_SMTP_URL: `smtps://baton:${secretParts.BATON_SMTP_URL}@mail.example.com`,
  BATON_MAIL_FROM: 'baton@example.com',
  BATON_SECRET_STORE: 'vault',
  BATON_VAULT_ADDR: 'https://vault.example.com:8200',
  BATON_MESSAGING_API_URL: 'https://messages.example.com',
  BATON_STRIPE_PUBLISHABLE_KEY: 'pk_live_public',
  BATON_OIDC_ISSUER: 'https://id.example.com',
  BATON_OIDC_CLIENT_ID: 'baton',
  ...endpoints('SUITE'),
  ...endpoints('MESSAGING'),
};
const configured = [
  ...configuredSecrets(readConfig(base)),
  ...configuredSecrets(
    readConfig({ ...base, BATON_VAULT_TOKEN: '', BATON_VAULT_ROLE_ID: 'role', BATON_VAULT_SECRET_ID: secretId }),
  ),
];

test('every setting that holds a secret is known here, and can come from a file', () => {
  expect([...SECRET_VARIABLES].sort()).toEqual(Object.keys(secretParts).sort());
  const secretive = configVariables.filter(name =>
    /SECRET(?!_STORE)|TOKEN$|PASSWORD$|_KEY|SMTP_URL|DATABASE_URL|_PAT$/.test(name),
  );
  expect(Object.keys(secretParts).sort()).toEqual(secretive.filter(name => !name.includes('PUBLISHABLE')).sort());
});

test('the password in a list of servers is also known', () => {
  const list = base.DATABASE_URL.replace('@db.example.com', '@db1:5432,[::1]:5433');
  expect(configuredSecrets(readConfig({ ...base, DATABASE_URL: list }))).toEqual(configuredSecrets(readConfig(base)));
});

describe('a log line', () => {
  registerProcessSecrets(configured);
  afterAll(() => registerProcessSecrets([]));

  test.each(Object.entries(secretParts))('that quotes %s has lost it', (_name, secret) => {
    const lines: string[] = [];
    const logger = createLogger('debug', { destination: { write: line => void lines.push(line) } });
    const error = new Error(`refused: Bearer ${secret}`, { cause: new Error(`at https://x:${secret}@example.com`) });
    logger.error({ err: error, said: { [secret]: `x${secret}y` }, json: JSON.stringify({ secret }) }, `with ${secret}`);
    logger.info(`decoded: ${decodeURIComponent(secret)}`);
    const text = JSON.stringify(lines.map(line => JSON.parse(line) as unknown));
    expect(text).toContain('with [redacted]');
    for (const form of [secret, decodeURIComponent(secret)]) {
      expect(text).not.toContain(JSON.stringify(form).slice(1, -1));
    }
  });
});
