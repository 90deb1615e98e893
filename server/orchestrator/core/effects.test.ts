import { describe, expect, test } from 'vitest';
import {
  asked,
  began,
  changed,
  done,
  failed,
  retrying,
  runFailed,
  started,
  stopRequested,
} from '../../testing/engine/facts.ts';
import { type Fact, NOW, specification } from '../../testing/engine/specification.ts';
import { effects, phase } from './index.ts';

const spec = specification(
  { id: 'a', type: 'x' },
  { id: 'b', type: 'x', retry_count: 1 },
  { id: 'c', type: 'human_task' },
  { id: 'd', type: 'x', depends_on: ['a', 'b', 'c'] },
);
const paused = changed('running', 'paused');

describe('effects', () => {
  const effectsAfter = (...facts: Fact[]) => {
    const { ready, inFlight, timers } = effects(spec.given(...facts).state());
    return { ready: [...ready], inFlight: [...inFlight], timers: [...timers] };
  };
  const nothing = { ready: [], inFlight: [], timers: [] };
  const busy = [started(), began('b'), retrying('b', 1000), began('c'), asked('c', { due_at: NOW + 7 })];

  test('are empty before the start and after the end', () => {
    expect(effectsAfter()).toEqual(nothing);
    expect(effectsAfter(started(), began('a'), failed('a'), runFailed('a'))).toEqual(nothing);
  });

  test('list the steps that may begin, in the order in which they became ready', () => {
    expect(effectsAfter(started())).toEqual({ ...nothing, ready: ['a', 'b', 'c'] });
  });

  test('list attempts in flight and timers', () => {
    expect(effectsAfter(...busy, began('a'), began('a', 2))).toEqual({
      ready: [],
      inFlight: [{ step: 'a', attempt: 2 }],
      timers: [
        { step: 'b', kind: 'retry', dueAt: NOW + 1000 },
        { step: 'c', kind: 'task', dueAt: NOW + 7 },
      ],
    });
    expect(effectsAfter(started(), began('c'), asked('c')).timers).toEqual([]);
  });

  test('contain only what is in flight during a pause or a stop', () => {
    const inFlight = [{ step: 'a', attempt: 1 }];
    expect(effectsAfter(...busy, paused)).toEqual(nothing);
    expect(effectsAfter(started(), began('a'), paused)).toEqual({ ...nothing, inFlight });
    expect(effectsAfter(started(), began('a'), stopRequested())).toEqual({ ...nothing, inFlight });
  });

  test('are complete again after a resume', () => {
    expect(effectsAfter(...busy, paused, changed('paused', 'running'))).toEqual(effectsAfter(...busy));
  });
});

describe('phase', () => {
  const phaseAfter = (...facts: Fact[]) => phase(spec.given(...facts).state());
  const blocked = [started(), began('a'), done('a'), began('b'), done('b'), began('c'), asked('c')];

  test('is starting until a step has begun', () => {
    expect(phaseAfter()).toBe('starting');
    expect(phaseAfter(started())).toBe('starting');
  });

  test('is executing while a step runs, could run or will be retried', () => {
    expect(phaseAfter(started(), began('a'))).toBe('executing');
    expect(phaseAfter(started(), began('a'), done('a'))).toBe('executing');
    expect(phaseAfter(started(), began('c'), asked('c'))).toBe('executing');
    const retry = [started(), began('a'), done('a'), began('c'), asked('c'), began('b'), retrying('b', 1)];
    expect(phaseAfter(...retry)).toBe('executing');
  });

  test('is blocked if only people can continue the run', () => {
    expect(phaseAfter(...blocked)).toBe('blocked');
  });

  test('is paused, and draining while attempts finish', () => {
    expect(phaseAfter(...blocked, paused)).toBe('paused');
    expect(phaseAfter(started(), paused)).toBe('paused');
    expect(phaseAfter(started(), began('a'), paused)).toBe('draining');
  });

  test('is draining until a graceful stop is done, paused or not', () => {
    expect(phaseAfter(started(), began('a'), stopRequested())).toBe('draining');
    expect(phaseAfter(started(), began('a'), paused, stopRequested())).toBe('draining');
  });

  test.each(['completed', 'failed', 'stopped'] as const)('is complete once %s', status => {
    expect(phaseAfter(started(), changed('running', status))).toBe('complete');
  });
});
