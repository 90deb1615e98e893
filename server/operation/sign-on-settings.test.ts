import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

const issuer = { BATON_OIDC_ISSUER: 'https://login.example.com', BATON_OIDC_CLIENT_ID: 'baton' };

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig({ NODE_ENV: 'test', ...env });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n');
  }
}

describe('the settings of single sign-on', () => {
  test('are absent by default, and passwords are on', () => {
    expect(readConfig({ NODE_ENV: 'test' }).identity).toMatchObject({ signOn: null, passwordSignIn: true });
  });

  test('read the map of groups, with one grant or several for each', () => {
    const map = {
      staff: { workspace: 'main', role: 'project_viewer' },
      admins: [
        { workspace: 'main', tenant_admin: true },
        { workspace: 'lab', project: 'Tests', role: 'project_contributor' },
      ],
    };
    const { signOn } = readConfig({
      NODE_ENV: 'test',
      ...issuer,
      BATON_OIDC_ROLE_MAP: JSON.stringify(map),
      BATON_OIDC_ALLOWED_DOMAINS: 'Example.com, b.example.org',
    }).identity;
    expect([...(signOn?.roleMap ?? [])]).toEqual([
      ['staff', [{ workspace: 'main', project: 'default', role: 'project_viewer', tenantAdmin: false }]],
      [
        'admins',
        [
          { workspace: 'main', project: 'default', role: 'project_contributor', tenantAdmin: true },
          { workspace: 'lab', project: 'Tests', role: 'project_contributor', tenantAdmin: false },
        ],
      ],
    ]);
    expect([...(signOn?.allowedDomains ?? [])]).toEqual(['example.com', 'b.example.org']);
  });

  test.each([
    ['no workspace', { staff: { role: 'project_viewer' } }, 'the group "staff" names no workspace'],
    [
      'an empty workspace',
      { staff: { workspace: '', role: 'project_viewer' } },
      'the group "staff" names no workspace',
    ],
    ['no role', { staff: { workspace: 'main' } }, 'the group "staff" grants no role'],
    ['an empty list', { staff: [] }, 'the group "staff" grants no role'],
    [
      'an unknown role',
      { staff: { workspace: 'main', role: 'owner' } },
      'the group "staff" role must be project_viewer or project_contributor',
    ],
    ['an unknown field', { staff: { workspace: 'main', admin: true } }, 'the group "staff" knows no admin'],
    ['no object', { staff: 'main' }, 'the group "staff" must be an object'],
  ])('refuse a map with %s in one line', (_, map, line) => {
    expect(problemsOf({ ...issuer, BATON_OIDC_ROLE_MAP: JSON.stringify(map) })).toEqual([
      `BATON_OIDC_ROLE_MAP: ${line}`,
    ]);
  });

  test.each(['{', '[]', '"staff"', 'staff=main'])('refuse a map that is no JSON object: %s', text => {
    expect(problemsOf({ ...issuer, BATON_OIDC_ROLE_MAP: text })).toEqual([
      expect.stringMatching(/^BATON_OIDC_ROLE_MAP: must be a JSON object/),
    ]);
  });

  test.each([
    ['http://login.example.com', 'plain http'],
    ['https://user:secret@login.example.com', 'credentials'],
    ['https://login.example.com/?a=b', 'a query'],
    ['login.example.com', 'no scheme'],
  ])('refuse the issuer %s: %s', url => {
    expect(problemsOf({ ...issuer, BATON_OIDC_ISSUER: url })).toEqual([
      expect.stringMatching(/^BATON_OIDC_ISSUER: must be /),
    ]);
    expect(problemsOf({ ...issuer, BATON_OIDC_ISSUER: 'http://127.0.0.1:8080/realms/x' })).toEqual([]);
  });

  test.each([
    [{ BATON_PASSWORD_SIGN_IN: 'off' }, 'BATON_PASSWORD_SIGN_IN: off needs BATON_OIDC_ISSUER: nobody could sign in'],
    [{ BATON_OIDC_ISSUER: issuer.BATON_OIDC_ISSUER }, 'BATON_OIDC_ISSUER: needs BATON_OIDC_CLIENT_ID'],
    [{ BATON_OIDC_CLIENT_ID: 'x' }, 'BATON_OIDC_CLIENT_ID: needs BATON_OIDC_ISSUER'],
    [{ ...issuer, BATON_OIDC_SCOPES: 'email' }, 'BATON_OIDC_SCOPES: must contain openid'],
    [
      { ...issuer, BATON_OIDC_ALLOWED_DOMAINS: '@example.com' },
      'BATON_OIDC_ALLOWED_DOMAINS: must be domains such as example.com, separated by commas',
    ],
  ])('refuse what is incomplete: %j', (env, line) => {
    expect(problemsOf(env as Record<string, string>)).toEqual([line]);
  });
});
