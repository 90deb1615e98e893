import { describe, expect, it, test } from 'vitest';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { AppError } from '../../../platform/errors.ts';
import { checkSettings, effectiveSettings, withDefaultArgs } from './settings.ts';

const refusal = (value: JsonMap) => {
  try {
    checkSettings('config', value);
  } catch (error) {
    if (error instanceof AppError)
      return `${error.status} ${error.details?.map(each => `${each.path}: ${each.message}`)}`;
    throw error;
  }
  return null;
};

describe('settings', () => {
  test.each<[JsonMap]>([
    [{}],
    [
      {
        headers: { 'X-Team': 'blue', 'User-Agent': 'ours' },
        default_args: { limit: 5, deep: { a: [1] } },
        region: 'eu',
      },
    ],
  ])('%j are accepted', value => {
    expect(refusal(value)).toBeNull();
  });

  test.each<[JsonMap, string]>([
    [{ headers: { Authorization: 'Bearer x' } }, 'config.headers.Authorization: may not be set here'],
    [{ headers: { cookie: 'a=b' } }, 'may not be set here'],
    [{ headers: { HOST: 'evil' } }, 'may not be set here'],
    [{ headers: { 'mcp-session-id': 'x' } }, 'may not be set here'],
    [{ headers: { 'X-Forwarded-For': '127.0.0.1' } }, 'may not be set here'],
    [{ headers: { 'X Bad': 'x' } }, 'is not the name of a header'],
    [{ headers: { 'X-Bad': 'a\r\nHost: evil' } }, 'printable ASCII'],
    [{ headers: { 'X-Bad': 1 } }, 'config.headers.X-Bad'],
    [{ headers: 'X-A: b' }, 'config.headers'],
    [{ headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`X-${i}`, 'a'])) }, 'must be at most 20'],
    [{ default_args: [1] }, 'config.default_args'],
    [{ note: 'x'.repeat(20_000) }, 'config: must be at most 16 KiB'],
  ])('%j are refused', (value, why) => {
    expect(refusal(value)).toContain(why);
    expect(refusal(value)).toMatch(/^422 /);
  });

  it('of the active profile override those of the instance', () => {
    const config = {
      headers: { 'X-Team': 'a', 'X-Env': 'dev' },
      default_args: { limit: 1, lang: 'en' },
      region: 'eu',
      keep: 1,
    };
    const profile = { headers: { 'x-env': 'prod' }, default_args: { limit: 9 }, region: 'us' };
    expect(effectiveSettings(config, profile)).toEqual({
      headers: { 'X-Team': 'a', 'x-env': 'prod' },
      defaultArgs: { limit: 9, lang: 'en' },
      config: { region: 'us', keep: 1 },
    });
    expect(effectiveSettings({ default_args: { a: 1 } }, null)).toEqual({
      headers: {},
      defaultArgs: { a: 1 },
      config: null,
    });
  });

  it('give default arguments to the tools that declare them, overridden by those of the step', () => {
    const schema = { type: 'object', properties: { limit: {}, lang: {} } };
    expect(withDefaultArgs({ limit: 2 }, { limit: 9, lang: 'en', other: 1 }, schema)).toEqual({ limit: 2, lang: 'en' });
    expect(withDefaultArgs({ limit: 2 }, { lang: 'en' }, { type: 'object' })).toEqual({ limit: 2 });
    expect(withDefaultArgs({}, { toString: 1 }, schema)).toEqual({});
  });
});
