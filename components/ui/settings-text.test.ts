import { describe, expect, test } from 'vitest';
import { readSettings, writeSettings } from './settings-text.ts';

describe('settings as text', () => {
  test.each([
    ['', { settings: {} }],
    ['  \n', { settings: {} }],
    ['{"a":1}', { settings: { a: 1 } }],
    ['[1]', { problem: expect.stringContaining('JSON object') }],
    ['null', { problem: expect.stringContaining('JSON object') }],
    ['{"a":', { problem: expect.stringContaining('not JSON') }],
  ])('%j', (text, read) => {
    expect(readSettings(text, 'instance')).toEqual(read);
  });

  test('cause an error with an example if they are invalid', () => {
    expect(readSettings('[]', 'connection')).toEqual({ problem: expect.stringContaining('base_url') });
    expect(readSettings('[]', 'instance')).toEqual({ problem: expect.stringContaining('default_args') });
  });

  test('are the same after writing and parsing', () => {
    const settings = { headers: { 'X-Team': 'blue' }, region: 'eu' };
    expect(readSettings(writeSettings(settings), 'connection')).toEqual({ settings });
    expect(writeSettings({})).toBe('');
  });
});
