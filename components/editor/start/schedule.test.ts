import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import {
  calendarOf,
  cronOf,
  SCHEDULERS,
  type Schedule,
  type Scheduled,
  scheduleFor,
  TOKEN_PLACEHOLDER,
} from './schedule.ts';

const ID = '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10';
const daily: Schedule = { every: 'day', minute: 5, hour: 9, weekday: 1, day: 1 };
const scheduled = (fields: Partial<Scheduled> = {}): Scheduled => ({
  origin: 'https://baton.example.com',
  workflow: { id: ID, name: 'Orders' },
  schedule: daily,
  token: 'pat_secret',
  ...fields,
});
/** Returns the arguments with which a shell calls curl. */
const callOf = (command: string): string[] =>
  execFileSync('/bin/sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`], {
    env: { NODE_ENV: 'test', PATH: '/usr/bin:/bin', BATON_TOKEN: 'pat_secret', JOB_NAME: 'job-1', GITHUB_RUN_ID: '7' },
  })
    .toString()
    .split('\0');
const lastLine = (text: string) => text.trimEnd().split('\n').at(-1) ?? '';
const commandOfCron = (line: string) => line.split(' ').slice(5).join(' ').replaceAll('\\%', '%');
/** Returns the words in double quotes on a line of a unit file. */
const unquoted = (line: string) =>
  (/"((?:[^"\\]|\\.)*)"$/.exec(line)?.[1] ?? '').replace(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$');

const HOSTILE = [
  "'; rm -rf / #",
  'x\n* * * * * root reboot',
  '$(reboot) `reboot`',
  `$${'{{'} secrets.BATON_TOKEN }}`,
  '%n %h\\',
  'a: b\n- c',
  '"quoted" # not a comment',
  '\u2028\u0000\u001b[31m',
];
const schedules = fc.record({
  every: fc.constantFrom('hour', 'day', 'weekday', 'week', 'month'),
  minute: fc.integer({ min: 0, max: 59 }),
  hour: fc.integer({ min: 0, max: 23 }),
  weekday: fc.integer({ min: 0, max: 6 }),
  day: fc.integer({ min: 1, max: 28 }),
}) as fc.Arbitrary<Schedule>;

describe('cronOf', () => {
  test.each<[Schedule['every'], string, string]>([
    ['hour', '5 * * * *', '*-*-* *:05:00 UTC'],
    ['day', '5 9 * * *', '*-*-* 09:05:00 UTC'],
    ['weekday', '5 9 * * 1-5', 'Mon..Fri *-*-* 09:05:00 UTC'],
    ['week', '5 9 * * 1', 'Mon *-*-* 09:05:00 UTC'],
    ['month', '5 9 1 * *', '*-*-01 09:05:00 UTC'],
  ])('every %s', (every, cron, calendar) => {
    expect(cronOf({ ...daily, every })).toBe(cron);
    expect(calendarOf({ ...daily, every })).toBe(calendar);
  });

  test('has five fields within their limits', () => {
    const limits = [
      [0, 59],
      [0, 23],
      [1, 31],
      [1, 12],
      [0, 7],
    ] as const;
    fc.assert(
      fc.property(schedules, schedule => {
        const fields = cronOf(schedule).split(' ');
        expect(fields).toHaveLength(5);
        for (const [at, field] of fields.entries()) {
          const [min, max] = limits[at] ?? [0, 0];
          const numbers = field === '*' ? [] : field.split('-').map(Number);
          for (const n of numbers) expect(Number.isInteger(n) && n >= min && n <= max).toBe(true);
        }
      }),
    );
  });
});

describe('scheduleFor', () => {
  const start = (url: string, key: string) => [
    '-sS',
    '--fail-with-body',
    '--max-time',
    '60',
    '--retry',
    '5',
    '--retry-all-errors',
    '-X',
    'POST',
    url,
    '-H',
    'Authorization: Bearer pat_secret',
    '-H',
    'Content-Type: application/json',
    '-H',
    `Idempotency-Key: schedule-${key}`,
    '-d',
    '{"command":"start","params":{"trigger_type":"schedule"}}',
    '',
  ];
  const url = `https://baton.example.com/v1/workflows/${ID}/command`;
  const atMinute = (call: string[]) => call.map(word => word.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d(?=Z)/, 'T'));

  test('starts the workflow once for each scheduled time, also with a hostile name', () => {
    for (const name of ['Orders', ...HOSTILE]) {
      const given = scheduled({ workflow: { id: ID, name } });
      const cron = scheduleFor('crontab', given);
      expect(cron.trimEnd().split('\n')).toHaveLength(5);
      expect(cron.split('\n')[0]).toMatch(/^# Starts '[^\n]*' every day at 09:05 UTC$/);
      expect(lastLine(cron).startsWith('5 9 * * * curl ')).toBe(true);
      expect(/(^|[^\\])%/.test(lastLine(cron))).toBe(false);
      expect(atMinute(callOf(commandOfCron(lastLine(cron))))).toEqual(start(url, 'TZ'));

      const unit = scheduleFor('systemd', given);
      const line = (start: string) => unit.split('\n').filter(each => each.startsWith(start));
      expect(line('ExecStart=')).toHaveLength(1);
      expect(line('OnCalendar=')).toEqual(['OnCalendar=*-*-* 09:05:00 UTC']);
      expect(atMinute(callOf(unquoted(line('ExecStart=')[0] ?? '')))).toEqual(start(url, 'TZ'));
      expect(unit.split('\n').filter(each => each.endsWith('\\'))).toEqual([]);

      const [secret, job] = parseAllDocuments(scheduleFor('kubernetes', given)).map(each => each.toJS());
      expect(secret).toMatchObject({ kind: 'Secret', stringData: { token: 'pat_secret' } });
      expect(job).toMatchObject({ kind: 'CronJob', spec: { schedule: '5 9 * * *', timeZone: 'Etc/UTC' } });
      const [container] = job.spec.jobTemplate.spec.template.spec.containers;
      expect(callOf(container.args[0])).toEqual(start(url, 'job-1'));

      const action = scheduleFor('github', given);
      expect(action.match(/\$\{\{/g)).toHaveLength(1);
      const { on, jobs } = parse(action);
      expect(on.schedule).toEqual([{ cron: '5 9 * * *' }]);
      expect(jobs.start.steps).toHaveLength(1);
      expect(jobs.start.steps[0].env).toEqual({ BATON_TOKEN: `$${'{{'} secrets.BATON_TOKEN }}` });
      expect(callOf(jobs.start.steps[0].run)).toEqual(start(url, '7'));
    }
  });

  test('contains a placeholder until there is a token', () => {
    for (const { value } of SCHEDULERS)
      expect(scheduleFor(value, scheduled({ token: null }))).toContain(TOKEN_PLACEHOLDER);
  });

  test('quotes an address with any characters', () => {
    const given = scheduled({ origin: "https://x.y/'; reboot; '" });
    const [address] = callOf(commandOfCron(lastLine(scheduleFor('crontab', given)))).filter(word =>
      word.startsWith('https'),
    );
    expect(address).toBe(`https://x.y/'; reboot; '/v1/workflows/${ID}/command`);
  });
});
