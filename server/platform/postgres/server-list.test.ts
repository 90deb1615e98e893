import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { connectionStringProblem } from './connection-string.ts';
import { firstServerUrl, parseServerList } from './server-list.ts';

const placesOf = (url: string) => {
  const list = parseServerList(url);
  return list !== undefined && 'servers' in list ? list.servers.map(({ host, port }) => [host, port]) : list;
};

describe('a list of servers', () => {
  test.each([
    [
      'postgres://u:p@db1:5432,db2:5433/baton',
      [
        ['db1', 5432],
        ['db2', 5433],
      ],
    ],
    [
      'postgresql://u:p@db1,db2/baton',
      [
        ['db1', undefined],
        ['db2', undefined],
      ],
    ],
    [
      'postgres://u:p@db1,db2:5433/baton',
      [
        ['db1', undefined],
        ['db2', 5433],
      ],
    ],
    [
      'postgres://u:p@db1,db2/baton?port=6000',
      [
        ['db1', 6000],
        ['db2', 6000],
      ],
    ],
    [
      'postgres://u:p@db1,db2/baton?port=6000,6001',
      [
        ['db1', 6000],
        ['db2', 6001],
      ],
    ],
    [
      'postgres://[::1]:5432,[fe80::2],10.0.0.3:5434/baton',
      [
        ['::1', 5432],
        ['fe80::2', undefined],
        ['10.0.0.3', 5434],
      ],
    ],
    [
      'postgres://u:p@/baton?host=db1,::1,/run/pg&port=1,2,3',
      [
        ['db1', 1],
        ['::1', 2],
        ['/run/pg', 3],
      ],
    ],
    [
      'postgres://u:p@ignored:7000/baton?host=db1,db2',
      [
        ['db1', 7000],
        ['db2', 7000],
      ],
    ],
    [
      'postgres://u:p,w@db1,db2/b?target_session_attrs=primary',
      [
        ['db1', undefined],
        ['db2', undefined],
      ],
    ],
  ])('%s', (url, places) => {
    expect(placesOf(url)).toEqual(places);
    expect(connectionStringProblem(url)).toBeUndefined();
  });

  test.each([
    ['postgres://u:hidden@db1,,db2/baton', 'host 2 of its list is not a host name'],
    ['postgres://u:hidden@db1,db2,/baton', 'host 3 of its list is not a host name'],
    ['postgres://u:hidden@db1:0,db2/baton', 'host 1 of its list has a port'],
    ['postgres://u:hidden@db1,db2:65536/baton', 'host 2 of its list has a port'],
    ['postgres://u:hidden@db1,db2:5432x/baton', 'host 2 of its list has a port'],
    ['postgres://u:hidden@db1,::1/baton', 'host 2 of its list is not a host name'],
    ['postgres://u:hidden@db1,[::1/baton', 'host 2 of its list is not a host name'],
    ['postgres://u:hidden@db1,[db2]/baton', 'host 2 of its list is not a host name'],
    ['postgres://u:hidden@db1,db2/baton?port=1,2,3', 'its list has 2 hosts and 3 ports'],
    ['postgres://u:hidden@db1,db2:5432,db1:5432/baton', 'hosts 1 and 3 of its list are the same'],
    [`postgres://u:hidden@${Array.from({ length: 17 }, (_, n) => `db${n}`)}/baton`, 'more than 16 hosts'],
    ['postgres://u:hidden@db1,db2/baton?target_session_attrs=standby', 'one of read-write, primary, any'],
    ['postgres://u:hidden@db1/baton?target_session_attrs=prefer-standby', 'one of read-write, primary, any'],
    ['postgres://u:hidden@db1,db2/baton?sslmode=on', 'sslmode must be one of'],
  ])('%s is refused in one line that repeats no password', (url, problem) => {
    expect(connectionStringProblem(url)).toContain(problem);
    expect(connectionStringProblem(url)).not.toMatch(/\n|hidden/);
  });

  test('the URL of one server is left as it is', () => {
    for (const url of [
      'postgres://u:p@db1:5432/baton?target_session_attrs=read-write',
      'postgres://u:p,w@db1/baton',
      'postgresql://baton:p@localhost:5432/baton?host=%2Frun%2Fpg',
      'postgres:///baton',
    ]) {
      expect(parseServerList(url)).toBeUndefined();
      expect(firstServerUrl(url)).toBe(url);
      expect(connectionStringProblem(url)).toBeUndefined();
    }
  });

  test('each server has a URL with the same credentials, database and parameters', () => {
    const url = 'postgres://u:p%2F%40@db1,[::1]:5433/ba%20ton?sslmode=no-verify&target_session_attrs=any&port=';
    expect(parseServerList(url)).toMatchObject({
      servers: [
        { url: 'postgres://u:p%2F%40@db1/ba%20ton?sslmode=no-verify' },
        { url: 'postgres://u:p%2F%40@[::1]:5433/ba%20ton?sslmode=no-verify' },
      ],
    });
  });
});

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}[a-z0-9]$/);
const host = fc.oneof(name, fc.ipV4(), fc.ipV6());
const server = fc.record({ host, port: fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined }) });

test('every written list is read back', () => {
  const keyOf = ({ host: of, port = 5432 }: { host: string; port?: number | undefined }) => `${of} ${port}`;
  const servers = fc.uniqueArray(server, { minLength: 2, maxLength: 16, selector: keyOf });
  fc.assert(
    fc.property(servers, fc.webSegment(), fc.webSegment(), (list, user, password) => {
      const written = list.map(({ host: of, port }) => {
        const bracketed = of.includes(':') ? `[${of}]` : of;
        return port === undefined ? bracketed : `${bracketed}:${port}`;
      });
      const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
      const url = `postgresql://${credentials}@${written}/baton`;
      expect(placesOf(url)).toEqual(list.map(({ host: of, port }) => [of, port]));
      expect(connectionStringProblem(url)).toBeUndefined();
    }),
  );
});

test('no text throws, and a list that is accepted names only servers that pg can be given', () => {
  const text = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[a-z@:,[\]/?=&%0-9.]{0,60}$/),
    fc.string({ unit: 'grapheme' }),
  );
  fc.assert(
    fc.property(text, rest => {
      const url = `postgres://${rest}`;
      const problem = connectionStringProblem(url);
      const list = parseServerList(url);
      if (problem !== undefined || list === undefined || 'problem' in list) return;
      for (const one of list.servers) expect(connectionStringProblem(one.url)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});
