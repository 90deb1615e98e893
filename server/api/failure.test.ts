import pino from 'pino';
import { expect, test } from 'vitest';
import { AppError, invalid, MAX_DETAILS, unavailable } from '../platform/errors.ts';
import { errorBody, logFailure } from './failure.ts';

test.each([
  ['a defect', new AppError(500, 'internal_error', 'The server failed to answer.'), 'error'],
  ['a database that is away', unavailable('database_unavailable', 'The database is not available.', 2), 'warn'],
  ['a process that does not lead, which the orchestrator logs once', unavailable('not_leading', 'No.', 2), 'debug'],
  ['an error of the caller', new AppError(422, 'invalid', 'No.'), undefined],
] as const)('%s is logged as %3$s', (_, error, level) => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace', base: null, timestamp: false }, { write: line => lines.push(line) });
  logFailure(logger, error, { requestId: 'r' });
  expect(lines.map(line => pino.levels.labels[JSON.parse(line).level])).toEqual(level === undefined ? [] : [level]);
});

test.each([MAX_DETAILS - 1, MAX_DETAILS, MAX_DETAILS + 1])(
  '%i details: 200 are shown, each cut, and the rest is counted',
  count => {
    const detail = { path: 'a'.repeat(10_000), message: 'b'.repeat(10_000), code: 'c' };
    const { details = [] } = errorBody(invalid('Bad.', Array(count).fill(detail)), 'r');
    expect(details.length).toBe(Math.min(count, MAX_DETAILS + 1));
    expect(JSON.stringify(details).length).toBeLessThan(600_000);
    const more = details.filter(({ code }) => code === 'more_problems').map(({ message }) => message);
    expect(more).toEqual(count > MAX_DETAILS ? ['1 more problem is not shown'] : []);
  },
);
