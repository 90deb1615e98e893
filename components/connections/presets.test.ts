import { describe, expect, it } from 'vitest';
import { type CredentialDraft, credentialsOf, draftOf, presets, problemOf } from './presets.ts';

const row = (name: string, secret = 's'): CredentialDraft => ({ ...draftOf(name), secret });

describe('credential rows', () => {
  it('are complete if every name is valid and unique and has a secret', () => {
    expect(problemOf([row('api_key'), row('X-API-Key')])).toBeNull();
    expect(problemOf([], ['kept'])).toBeNull();
    expect(problemOf([])).toMatch(/at least one/);
    expect(problemOf([row('two words')])).toMatch(/letters/);
    expect(problemOf([row('a'), row(' a ')])).toMatch(/“a” is used twice/);
    expect(problemOf([row('a')], ['a'])).toMatch(/twice/);
    expect(problemOf([row('a', '')])).toMatch(/secret of “a” is missing/);
  });

  it('never reveal a secret', () => {
    expect(problemOf([row('a', 'hush'), row('a', 'hush')])).not.toContain('hush');
  });

  it('keep a secret exactly as it was typed', () => {
    expect(credentialsOf([row(' a ', ' of two\nlines ')])).toEqual({ a: ' of two\nlines ' });
  });

  it('of every preset lack only their secrets', () => {
    for (const { credentials, value } of presets.filter(each => each.value !== 'other')) {
      expect(problemOf(credentials.map(name => row(name))), value).toBeNull();
    }
  });
});
