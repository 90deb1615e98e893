import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

const problems = (env: Record<string, string>) => {
  try {
    readConfig({ NODE_ENV: 'test', ...env });
    return '';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
};

describe('the private network', () => {
  test('is closed, but for the hosts, addresses and networks that are listed', () => {
    expect(readConfig({}).egress.allowPrivate).toEqual([]);
    const listed = readConfig({ BATON_ALLOW_PRIVATE_NETWORK: ' mcp.internal, 10.1.0.0/16,,::1 ' });
    expect(listed.egress.allowPrivate).toEqual(['mcp.internal', '10.1.0.0/16', '::1']);
  });

  test.each(['http://host', '10.0.0.0/33', 'host:80', '*'])('is not opened by %s', entry => {
    const found = problems({ BATON_ALLOW_PRIVATE_NETWORK: `10.0.0.0/8,${entry}` });
    expect(found).toContain('BATON_ALLOW_PRIVATE_NETWORK: ');
    expect(found).toContain(`"${entry}"`);
  });
});

describe('the secret store', () => {
  const vault = { BATON_SECRET_STORE: 'vault', BATON_VAULT_ADDR: 'https://vault.example:8200/' };
  const role = { BATON_VAULT_ROLE_ID: 'r', BATON_VAULT_SECRET_ID: 's' };

  test('is the database, whatever else is set', () => {
    expect(readConfig({}).secrets.vault).toBeNull();
    expect(readConfig({ BATON_VAULT_TOKEN: 't' }).secrets.vault).toBeNull();
  });

  test('is Vault with a token, or with a role', () => {
    expect(readConfig({ ...vault, BATON_VAULT_TOKEN: 't', BATON_VAULT_NAMESPACE: 'team' }).secrets.vault).toEqual({
      address: 'https://vault.example:8200',
      mount: 'secret',
      prefix: 'baton',
      namespace: 'team',
      credentials: { token: 't' },
    });
    const withRole = readConfig({ ...vault, ...role, BATON_VAULT_MOUNT: 'kv/team', BATON_VAULT_PREFIX: 'a/b' });
    expect(withRole.secrets.vault).toMatchObject({
      mount: 'kv/team',
      prefix: 'a/b',
      credentials: { roleId: 'r', secretId: 's' },
    });
  });

  test.each([
    ['without an address', { BATON_SECRET_STORE: 'vault', BATON_VAULT_TOKEN: 't' }, 'BATON_VAULT_ADDR'],
    ['without a credential', vault, 'BATON_VAULT_TOKEN'],
    ['with half a role', { ...vault, BATON_VAULT_ROLE_ID: 'r' }, 'BATON_VAULT_TOKEN'],
    ['with two credentials', { ...vault, ...role, BATON_VAULT_TOKEN: 't' }, 'BATON_VAULT_TOKEN'],
    ['at something else', { ...vault, BATON_VAULT_TOKEN: 't', BATON_VAULT_ADDR: 'ftp://vault' }, 'BATON_VAULT_ADDR'],
    ['in a folder that climbs', { ...vault, BATON_VAULT_TOKEN: 't', BATON_VAULT_PREFIX: '../x' }, 'BATON_VAULT_PREFIX'],
  ])('is not Vault %s', (_, env, variable) => expect(problems(env)).toContain(`${variable}: `));
});
