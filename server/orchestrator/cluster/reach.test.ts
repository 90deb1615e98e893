import { expect, test } from 'vitest';
import { createLogger } from '../../platform/logger.ts';
import type { Member } from '../ports/cluster.ts';
import type { ProbeResult } from './probe.ts';
import { Reach } from './reach.ts';

const member = (id: string, isHeard = true): Member => ({
  id,
  url: `http://${id}`,
  level: 1,
  version: '1',
  leads: true,
  isLeading: false,
  shards: [],
  isHeard,
});

/** Node `a` among others, with a time and answers that the test sets. */
function reachOfA() {
  const state: { ms: number; results: Record<string, ProbeResult>; lines: string[] } = {
    ms: 0,
    results: {},
    lines: [],
  };
  const logger = createLogger('silent');
  for (const level of ['info', 'error'] as const)
    Reflect.set(logger, level, (_: unknown, line: string) => void state.lines.push(line));
  const reach = new Reach('a', {
    logger,
    elapsed: () => state.ms,
    probe: async ({ id }) => state.results[id] ?? 'answers',
  });
  /** Asks once a second for so long. */
  const ask = async (members: Member[], seconds: number) => {
    for (let second = 0; second <= seconds; second++) {
      await reach.ask(members, new AbortController().signal);
      if (second < seconds) state.ms += 1_000;
    }
  };
  return { state, reach, ask };
}

test('a node is cut off when no other one has answered for five seconds, until one answers', async () => {
  const { state, reach, ask } = reachOfA();
  state.results = { b: 'silent', c: 'silent' };
  await ask([member('a'), member('b'), member('c')], 4);
  expect(reach.isCutOff).toBe(false);
  state.ms += 1_000;
  expect(reach.isCutOff).toBe(true);
  state.results = { b: 'silent' };
  await ask([member('a'), member('b'), member('c')], 0);
  expect(reach.isCutOff).toBe(false);
});

test('a node alone, or beside one that the database does not hear of either, is not cut off', async () => {
  const { state, reach, ask } = reachOfA();
  state.results = { b: 'silent' };
  await ask([member('a')], 10);
  expect(reach.isCutOff).toBe(false);
  await ask([member('a'), member('b', false)], 10);
  expect(reach.isCutOff).toBe(false);
  expect(state.lines).toEqual([]);
});

test('an address that does not answer is said once, that of the node itself with what to do, and when it answers again', async () => {
  const { state, ask } = reachOfA();
  state.results = { a: 'silent', b: 'silent' };
  await ask([member('a'), member('b')], 12);
  expect(state.lines).toEqual([
    'the address of this node does not answer: set BATON_NODE_URL to where other nodes reach it, and HOST to listen there',
    'the address of another node does not answer: requests for what it leads are answered with 503',
  ]);
  state.results = {};
  await ask([member('a'), member('b')], 2);
  expect(state.lines.slice(2)).toEqual(['the node answers again', 'the node answers again']);
});

test('an address that leads to another node is said at once', async () => {
  const { state, ask } = reachOfA();
  state.results = { b: 'other' };
  await ask([member('a'), member('b')], 3);
  expect(state.lines).toEqual([
    'the address of another node leads to another node: requests for what it leads are answered with 503',
  ]);
});
