import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError, configVariables, readConfig, unknownVariables } from './config.ts';
import { readSettings, SECRET_VARIABLES } from './setting-files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'baton-settings-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const write = (name: string, content: string | Uint8Array) => {
  const path = join(scratch, name);
  writeFileSync(path, content);
  return path;
};
const read = (env: Record<string, string>) => readSettings(env, configVariables);
const problems = (env: Record<string, string>) => {
  try {
    readConfig({ NODE_ENV: 'test', ...env });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n');
  }
};
const KEY = Buffer.alloc(32, 7).toString('base64');

describe('the file of a secret', () => {
  test.each(['\n', '\r\n', ''])('is trimmed of one newline at its end: %j', end => {
    const path = write('secret', ` a secret\n${end}`);
    for (const name of SECRET_VARIABLES)
      expect(read({ [`${name}_FILE`]: path })).toEqual({
        env: { [name]: end === '' ? ' a secret' : ' a secret\n' },
        inFile: [],
        problems: [],
      });
  });

  test('is read for the database and the master key', () => {
    const config = readConfig({
      DATABASE_URL_FILE: write('url', 'postgresql://u:p@h/db\n'),
      BATON_MASTER_KEY_FILE: write('key', `${KEY}\n`),
      BATON_CLUSTER: 'on',
    });
    expect([config.database.url, config.identity.masterKey]).toEqual(['postgresql://u:p@h/db', KEY]);
  });

  test('that cannot be used is one line, which repeats neither the file nor its name', () => {
    const folder = join(scratch, 'sw0rdfish-folder');
    mkdirSync(folder, { recursive: true });
    const large = write('large', 'sw0rdfish');
    truncateSync(large, 64 * 1024 + 1);
    const cases: [string, string][] = [
      [join(scratch, 'sw0rdfish'), 'its file cannot be read (ENOENT)'],
      ['sw0rdfish\u001b[31m\n\0', 'its file cannot be read (ERR_INVALID_ARG_VALUE)'],
      [folder, 'what it names is not a regular file'],
      ['/dev/null', 'what it names is not a regular file'],
      [write('empty', ''), 'its file is empty'],
      [write('blank', ' \n\n'), 'its file is empty'],
      [large, 'its file is larger than 64 KiB'],
      [write('zero', 'sw0rdfish\0'), 'its file is not text'],
      [write('latin', Buffer.from('sw0rdfish\xe4', 'latin1')), 'its file is not text in UTF-8'],
    ];
    for (const name of SECRET_VARIABLES)
      for (const [path, problem] of cases)
        expect(problems({ [`${name}_FILE`]: path })).toContain(`${name}_FILE: ${problem}`);
    for (const [path] of cases) expect(problems({ BATON_PAT_FILE: path }).join()).not.toContain('sw0rdfish');
  });

  test('is refused beside the secret itself', () => {
    const path = write('pat', 'sw0rdfish');
    expect(problems({ BATON_METRICS_TOKEN: 'sw0rdfish-sw0rdfish', BATON_METRICS_TOKEN_FILE: path })).toEqual([
      'BATON_METRICS_TOKEN: is given as well as BATON_METRICS_TOKEN_FILE: set one of them',
    ]);
  });

  test('may hold what the setting refuses: the line names the setting and repeats nothing', () => {
    const lines = problems({ BATON_MASTER_KEY_FILE: write('short', 'sw0rdfish') });
    expect(lines).toEqual([expect.stringMatching(/^BATON_MASTER_KEY: must be base64/)]);
  });

  test('of an empty name is none, and no file belongs to a setting that is no secret', () => {
    expect(problems({ BATON_PAT_FILE: '' })).toEqual([]);
    expect(unknownVariables({ BATON_PAT_FILE: 'x', BATON_TENANT_FILE: '/sw0rdfish' })).toEqual([
      expect.stringMatching(/^BATON_TENANT_FILE is not a setting and is ignored/),
    ]);
  });
});

describe('the file of settings', () => {
  const config = (text: string, env: Record<string, string> = {}) => ({
    BATON_CONFIG: write('settings', text),
    ...env,
  });

  test('holds settings, secrets and the files of secrets, in the syntax of .env', () => {
    const key = write('key', KEY);
    const text = `\uFEFF# ours\r\nPORT=4000 # the port\r\nexport BATON_TENANT = "acme"\r\nBATON_LOG_LEVEL='warn'\r\n\r\nBATON_MASTER_KEY_FILE=${key}\nBATON_RETENTION_DAYS=\n`;
    const { http, identity, log, retention } = readConfig(config(text));
    expect([http.port, identity.tenant, log.level, identity.masterKey, retention.runDays]).toEqual([
      4000,
      'acme',
      'warn',
      KEY,
      0,
    ]);
  });

  test('is weaker than the environment, where an empty variable is none', () => {
    const { http } = readConfig(config('PORT=4000\nHOST=0.0.0.0', { PORT: '5000', HOST: '' }));
    expect([http.port, http.host]).toEqual([5000, '0.0.0.0']);
    const path = write('token', 'file-of-the-environment');
    const inBoth = config('BATON_METRICS_TOKEN_FILE=/nowhere\nBATON_PAT=x', {
      BATON_METRICS_TOKEN: 'environment-token',
      BATON_PAT_FILE: path,
    });
    expect(read(inBoth)).toMatchObject({
      problems: [],
      env: { BATON_METRICS_TOKEN: 'environment-token', BATON_PAT: 'file-of-the-environment' },
    });
    expect(problems(config(`BATON_PAT=x\nBATON_PAT_FILE=${path}`))).toContain(
      'BATON_PAT: is given as well as BATON_PAT_FILE: set one of them',
    );
  });

  test('warns of each name that is no setting, and sets nothing else', () => {
    const env = config('PORTT=1\nBATON_RETENTION_DAY=3\nNODE_ENV=development\nOTEL_BSP_SCHEDULE_DELAY=9\nPORT=4000', {
      NODE_ENV: 'test',
      BATON_MASTERKEY: 'x',
    });
    expect(unknownVariables(env)).toEqual([
      'BATON_MASTERKEY is not a setting and is ignored: did you mean BATON_MASTER_KEY?',
      'BATON_RETENTION_DAY in the file of BATON_CONFIG is not a setting and is ignored: did you mean BATON_RETENTION_DAYS?',
      'NODE_ENV in the file of BATON_CONFIG is not a setting and is ignored',
      'OTEL_BSP_SCHEDULE_DELAY in the file of BATON_CONFIG is no longer a setting and is ignored: it is 5000',
      'PORTT in the file of BATON_CONFIG is not a setting and is ignored: did you mean PORT?',
    ]);
    expect(readConfig(config('NODE_ENV=development')).env).toBe('production');
  });

  test.each([
    ['PORT=1\nsw0rdfish\n', 2],
    ['sw0rdfish==', 1],
    ['PORT: 3000', 1],
    ['port=3000', 1],
    ['A="x" y', 1],
    ["A=1\n\nB='sw0rdfish\nPORT=1\n", 3],
    ['=sw0rdfish', 1],
  ])('is refused whole where a line is no setting: %j', (text, line) => {
    expect(problems(config(text))).toEqual([
      `BATON_CONFIG: line ${line} of its file is not NAME=value, with the name in capital letters`,
    ]);
  });

  test('that cannot be used is one line, and names no further file', () => {
    expect(problems({ BATON_CONFIG: '/sw0rdfish' })).toEqual(['BATON_CONFIG: its file cannot be read (ENOENT)']);
    expect(unknownVariables({ BATON_CONFIG: '/sw0rdfish' })).toEqual([]);
    expect(problems(config('BATON_CONFIG=/x'))).toEqual([
      'BATON_CONFIG: its file must not name a further file of settings',
    ]);
  });

  test('gives what was written, for every value that its quotes can hold', () => {
    const value = fc.string({ unit: fc.constantFrom(...'ab=#$ \n\t,/:é-') }).filter(text => text.trim() !== '');
    const names = fc.subarray(['HOST', 'BATON_URL', 'BATON_PAT', 'BATON_TENANT', 'DATABASE_URL', 'BATON_MAIL_FROM']);
    fc.assert(
      fc.property(names, value, fc.constantFrom('"', "'", '`'), (chosen, text, quote) => {
        const lines = chosen.map(name => `${name}=${quote}${text}${quote} # so`);
        const { env, problems: found } = read(config(['# ', ...lines].join('\n')));
        const { BATON_CONFIG: _, ...others } = env;
        expect(found).toEqual([]);
        expect(others).toEqual(Object.fromEntries(chosen.map(name => [name, text])));
      }),
      { numRuns: 150 },
    );
  });

  test('of any bytes is settings or one line each, and no line has anything of them', () => {
    const piece = fc.constantFrom('PORT', 'BATON_PAT', '=', '"', "'", '\n', '\r', ' ', '#', 'sw0rdfish', '\u001b[31m');
    const bytes = fc.oneof(
      fc.array(piece).map(pieces => Buffer.from(pieces.join(''))),
      fc.uint8Array({ maxLength: 60 }),
    );
    fc.assert(
      fc.property(bytes, content => {
        const env = { BATON_CONFIG: write('any', content) };
        const lines = [...problems(env), ...unknownVariables(env)];
        for (const line of lines) {
          expect(line).toMatch(/^[A-Z][A-Z0-9_]*(: | in the file of BATON_CONFIG is )[ -~]+$/);
          expect(line).not.toContain('sw0rdfish');
        }
        expect(problems({ BATON_METRICS_TOKEN_FILE: env.BATON_CONFIG }).join('\n')).not.toContain('sw0rdfish');
      }),
      { numRuns: 300 },
    );
  });
});
