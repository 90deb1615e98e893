import { expect, test } from 'vitest';
import { ManualClock } from '../clock.ts';
import type { ListedServer } from './server-list.ts';
import { type Standing, WriterSearch } from './writer-search.ts';

type State = 'primary' | 'standby' | 'refuses' | 'swallows';

/** Servers named a, b and c whose states a test sets, and alarms that it rings. */
function world(states: Record<string, State>, sameServer = false) {
  const servers = Object.keys(states).map<ListedServer>(host => ({ host, port: 5432, url: host }));
  const asked: string[] = [];
  const alarms = new Set<() => void>();
  const clock = new ManualClock();
  const probe = async ({ host }: ListedServer): Promise<Standing> => {
    asked.push(host);
    const state = states[host];
    if (state === 'refuses') throw new Error('connect ECONNREFUSED');
    if (state === 'swallows') return new Promise(() => undefined);
    return { writes: state === 'primary', isStandby: state === 'standby', started: sameServer ? 'at once' : host };
  };
  const alarm = (_: number, ring: () => void) => {
    alarms.add(ring);
    return () => void alarms.delete(ring);
  };
  const search = new WriterSearch(servers, probe, { alarm, clock });
  const turn = () => new Promise(setImmediate);
  return {
    search,
    states,
    clock,
    server: (host: string) => servers.find(one => one.host === host) ?? expect.fail(host),
    /** Returns the hosts that were queried since the last call. */
    asked: () => asked.splice(0).join(''),
    /** Finds the writer, and meanwhile rings every pending alarm. */
    async find(): Promise<string> {
      let isOver = false;
      const found = search.find().finally(() => {
        isOver = true;
      });
      found.catch(() => undefined);
      for (let rounds = 0; rounds < 10 && !isOver; rounds++) {
        await turn();
        for (const ring of [...alarms]) ring();
      }
      expect(isOver).toBe(true);
      return (await found).host;
    },
  };
}

test('all servers are queried at once, and the one that accepts writes is kept', async () => {
  const { find, asked, states, clock } = world({ a: 'standby', b: 'primary', c: 'refuses' });
  expect(await find()).toBe('b');
  expect(asked()).toBe('abc');
  // For a moment it is not queried again, and then it alone.
  expect(await find()).toBe('b');
  expect(asked()).toBe('');
  clock.advance(2_000);
  expect(await find()).toBe('b');
  expect(asked()).toBe('b');
  // Another server that claims to be the primary is ignored while the known one answers.
  states.a = 'primary';
  clock.advance(2_000);
  expect(await find()).toBe('b');
});

test('a server that never answers delays no search', async () => {
  const { find, states, clock, server, search } = world({ a: 'swallows', b: 'primary', c: 'standby' });
  expect(await find()).toBe('b');
  states.b = 'swallows';
  states.c = 'primary';
  clock.advance(2_000);
  expect(await find()).toBe('c');
  states.c = 'refuses';
  states.b = 'primary';
  search.doubt(server('c'));
  expect(await find()).toBe('b');
});

test('a lost connection makes the next search query all servers, and only one search runs at a time', async () => {
  const { find, asked, search, server } = world({ a: 'primary', b: 'standby' });
  await find();
  asked();
  search.doubt(server('b'));
  await find();
  expect(asked()).toBe('');
  search.doubt(server('a'));
  await Promise.all([find(), find(), find()]);
  expect(asked()).toBe('ab');
});

test('when another server can write, connections to the old one are dropped, and listeners are told once', async () => {
  const { find, states, search, server } = world({ a: 'primary', b: 'standby' });
  await find();
  const dropped: string[] = [];
  const changes: string[] = [];
  search.join(server('a'), () => dropped.push('one'));
  search.join(server('a'), () => dropped.push('two'))();
  const end = search.onChange((now, before) => changes.push(`${before.host}${now.host}`));
  Object.assign(states, { a: 'refuses', b: 'primary' });
  search.doubt(server('a'));
  await find();
  await find();
  expect([dropped, changes]).toEqual([['one'], ['ab']]);
  // A connection to the old server that was being opened.
  search.join(server('a'), () => dropped.push('late'));
  search.join(server('b'), () => dropped.push('right'));
  expect(dropped).toEqual(['one', 'late']);
  end();
  Object.assign(states, { a: 'primary', b: 'standby' });
  search.doubt(server('b'));
  await find();
  expect([dropped, changes]).toEqual([['one', 'late', 'right'], ['ab']]);
});

test('two servers that can write are refused, and named', async () => {
  const { find } = world({ a: 'primary', b: 'standby', c: 'primary' });
  await expect(find()).rejects.toMatchObject({
    name: 'NoWriterError',
    message: 'Two servers in DATABASE_URL accept writes: a:5432 and c:5432; stop the one that is no longer the primary',
    summary: 'Two servers in DATABASE_URL accept writes.',
  });
});

test('two names of one server are one server, and the known name is kept', async () => {
  const { find, states, search, server } = world({ a: 'refuses', b: 'primary' }, true);
  expect(await find()).toBe('b');
  states.a = 'primary';
  search.doubt(server('b'));
  expect(await find()).toBe('b');
});

test('if no server accepts writes, the error gives the reason for each server, or says that none answers', async () => {
  const { find, states } = world({ a: 'standby', b: 'refuses' });
  await expect(find()).rejects.toMatchObject({
    message: 'None of the servers in DATABASE_URL accepts writes: a:5432 is a standby; b:5432 connect ECONNREFUSED',
    summary: 'None of the servers in DATABASE_URL accepts writes.',
  });
  states.a = 'refuses';
  await expect(find()).rejects.toMatchObject({ summary: 'None of the servers in DATABASE_URL answers.' });
  states.b = 'primary';
  expect(await find()).toBe('b');
});
