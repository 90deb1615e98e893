import { describe, expect, it } from 'vitest';
import { messagingSchema, messagingSettings, suiteSchema, suiteSettings } from './settings.ts';

/** Returns the settings of an environment, and the problems that reading them reported. */
function readSettings(env: Record<string, string>) {
  const problems: string[] = [];
  const addProblem = (message: string) => problems.push(message);
  return {
    suite: suiteSettings(suiteSchema.parse(env), addProblem),
    messaging: messagingSettings(messagingSchema.parse(env), addProblem),
    problems,
  };
}

describe('the settings of accounts that can be connected', () => {
  it('are absent if the variables are missing or empty', () => {
    expect(readSettings({})).toEqual({ suite: null, messaging: null, problems: [] });
    expect(readSettings({ BATON_SUITE_CLIENT_ID: '', BATON_MESSAGING_API_URL: ' ' })).toMatchObject({
      suite: null,
      messaging: null,
    });
  });

  it('read services with their scopes, which may be URLs', () => {
    const { suite } = readSettings({
      BATON_SUITE_CLIENT_ID: 'id',
      BATON_SUITE_ISSUER: 'https://id.example.com',
      BATON_SUITE_SERVICES: 'mail = https://a.example/mail.read?x=1  b;; cal=c ;',
      BATON_SUITE_AUTHORIZATION_PARAMS: 'access_type=offline&prompt=consent',
    });
    expect([...(suite?.services ?? [])]).toEqual([
      ['mail', ['https://a.example/mail.read?x=1', 'b']],
      ['cal', ['c']],
    ]);
    expect(suite).toMatchObject({
      endpoints: undefined,
      scopes: ['openid', 'email', 'profile'],
      authorizationParams: { access_type: 'offline', prompt: 'consent' },
    });
  });

  it('refuse services without a scope, and invalid addresses', () => {
    for (const services of ['mail', 'mail=', 'Mail Box=x', '=x', 'a=b;nonsense']) {
      expect(suiteSchema.safeParse({ BATON_SUITE_SERVICES: services }).success, services).toBe(false);
    }
    for (const url of ['nonsense', 'ftp://example.com', 'javascript:alert(1)']) {
      expect(suiteSchema.safeParse({ BATON_SUITE_ISSUER: url }).success, url).toBe(false);
    }
  });

  it('report an incomplete configuration as a mistake', () => {
    const half = { BATON_SUITE_CLIENT_ID: 'id', BATON_SUITE_TOKEN_ENDPOINT: 'https://id.example.com/token' };
    expect(readSettings(half).problems).toEqual([expect.stringMatching(/^BATON_SUITE_CLIENT_ID: /)]);
    expect(readSettings({ BATON_MESSAGING_CLIENT_ID: 'id' }).problems).toEqual([
      expect.stringMatching(/^BATON_MESSAGING_CLIENT_ID: /),
    ]);
    const api = 'https://api.example.com/v1';
    expect(readSettings({ BATON_MESSAGING_API_URL: `${api}//` })).toMatchObject({
      messaging: { apiUrl: api, oauth: null },
      problems: [],
    });
  });
});
