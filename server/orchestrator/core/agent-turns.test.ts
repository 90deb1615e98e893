import { describe, expect, test } from 'vitest';
import { type AgentView, MAX_SAME_CALLS, nextOfAgent } from './agent-turns.ts';
import type { TurnCall } from './events.ts';

const call = (over: Partial<TurnCall> = {}): TurnCall => ({ tool: 'search', hash: 'h', policy: 'auto', ...over });
const view = (over: Omit<Partial<AgentView>, 'plan'> & { plan?: Partial<AgentView['plan']> } = {}): AgentView => ({
  turns: 1,
  lastTurn: { calls: [call()] },
  callsAdded: null,
  open: 0,
  toolCalls: 0,
  spent: 0,
  dearestTurn: 0,
  dearestCall: 0,
  sameCalls: 0,
  context: 0,
  compactAt: Number.POSITIVE_INFINITY,
  isCompacted: false,
  overflow: 'none',
  closing: null,
  ...over,
  plan: { type: 'agent', model: 'm', max_turns: 25, max_tool_calls: 100, on_limit: 'answer', ...over.plan },
});
/** Returns the view after the only call of the last turn has ended. */
const viewAfterCall = (over: Parameters<typeof view>[0] = {}) => view({ callsAdded: 1, toolCalls: 1, ...over });
const goesOn = { do: 'turn', closing: null };
const closes = (closing: string) => ({ do: 'turn', closing });

describe('the next steps of an agent', () => {
  test('are its first turn, then the calls of that turn, then its next turn', () => {
    expect(nextOfAgent(view({ turns: 0, lastTurn: null }))).toEqual(goesOn);
    expect(nextOfAgent(view({ open: 1, lastTurn: null }))).toEqual({ do: 'wait' });
    expect(nextOfAgent(view())).toEqual({ do: 'calls', calls: [{ ...call(), number: 1 }] });
    expect(nextOfAgent(viewAfterCall({ open: 1 }))).toEqual({ do: 'wait' });
    expect(nextOfAgent(viewAfterCall())).toEqual(goesOn);
  });

  test('are none after a turn without calls: the agent ends', () => {
    expect(nextOfAgent(view({ lastTurn: { calls: [] } }))).toEqual({ do: 'end', limit: null });
  });

  test('leave out calls that must not be carried out, and keep the numbers of the others', () => {
    const calls = [call({ policy: 'none' }), call({ policy: 'ask' })];
    expect(nextOfAgent(view({ lastTurn: { calls } }))).toEqual({
      do: 'calls',
      calls: [{ ...call({ policy: 'ask' }), number: 2 }],
    });
    expect(nextOfAgent(view({ lastTurn: { calls: [call({ policy: 'none' })] } }))).toEqual(goesOn);
  });
});

describe('an agent at a limit', () => {
  test.each([
    [24, goesOn],
    [25, closes('max_turns')],
    [26, closes('max_turns')],
  ])('after %i turns of 25', (turns, next) => {
    expect(nextOfAgent(viewAfterCall({ turns }))).toEqual(next);
  });

  test.each([
    [2, [1]],
    [1, [1]],
  ])('with %i calls left adds as many as it may', (left, numbers) => {
    const next = nextOfAgent(view({ toolCalls: 100 - left }));
    expect(next.do === 'calls' && next.calls.map(({ number }) => number)).toEqual(numbers);
  });

  test('adds the first calls of a turn that asks for more than the limit permits, and then closes', () => {
    const lastTurn = { calls: [call(), call({ hash: 'i' })] };
    const next = nextOfAgent(view({ toolCalls: 99, lastTurn }));
    expect(next.do === 'calls' && next.calls.map(({ number }) => number)).toEqual([1]);
    expect(nextOfAgent(view({ toolCalls: 100, callsAdded: 1, lastTurn }))).toEqual(closes('max_tool_calls'));
  });

  test('may answer after its last call, and closes if it asks for another one', () => {
    expect(nextOfAgent(viewAfterCall({ toolCalls: 100 }))).toEqual(goesOn);
    expect(nextOfAgent(view({ toolCalls: 100 }))).toEqual(closes('max_tool_calls'));
  });

  test.each([
    [79, goesOn],
    [80, goesOn],
    [81, closes('budget')],
  ])('keeps a tenth of its budget: with %i of 100 spent and turns that cost 10', (spent, next) => {
    expect(nextOfAgent(viewAfterCall({ plan: { budget: 100 }, spent, dearestTurn: 10 }))).toEqual(next);
  });

  test.each([
    [69, 2],
    [70, 2],
    [71, 1],
    [81, 0],
    [90, 0],
  ])('makes only calls that its budget covers: with %i of 100 spent and calls that cost 10', (spent, count) => {
    const lastTurn = { calls: [call(), call({ hash: 'i' })] };
    const next = nextOfAgent(view({ plan: { budget: 100 }, spent, dearestCall: 10, lastTurn }));
    expect(next.do === 'calls' ? next.calls.length : next).toEqual(count === 0 ? closes('budget') : count);
  });

  test('ends without a closing answer once its budget is spent', () => {
    const plan = { budget: 100 };
    expect(nextOfAgent(viewAfterCall({ plan, spent: 99 }))).toEqual(closes('budget'));
    expect(nextOfAgent(viewAfterCall({ plan, spent: 100 }))).toEqual({ do: 'end', limit: 'budget' });
  });

  test.each([
    [MAX_SAME_CALLS - 1, goesOn],
    [MAX_SAME_CALLS, closes('repeated_calls')],
    [MAX_SAME_CALLS + 1, closes('repeated_calls')],
  ])('after the same call %i times', (sameCalls, next) => {
    expect(nextOfAgent(viewAfterCall({ sameCalls }))).toEqual(next);
  });

  test('fails if on_limit says so, and ends after its closing turn even if that turn makes calls', () => {
    expect(nextOfAgent(viewAfterCall({ turns: 25, plan: { on_limit: 'fail' } }))).toEqual({
      do: 'fail',
      limit: 'max_turns',
    });
    expect(nextOfAgent(view({ closing: 'max_turns' }))).toEqual({ do: 'end', limit: 'max_turns' });
  });
});

describe('a growing conversation', () => {
  const long = { context: 71, compactAt: 70 };

  test('is compacted once before the next turn', () => {
    expect(nextOfAgent(viewAfterCall({ ...long, context: 70 }))).toEqual(goesOn);
    expect(nextOfAgent(viewAfterCall(long))).toEqual({ do: 'compact' });
    expect(nextOfAgent(viewAfterCall({ ...long, isCompacted: true }))).toEqual(goesOn);
    expect(nextOfAgent(view({ ...long, turns: 0, lastTurn: null }))).toEqual({ do: 'compact' });
    expect(nextOfAgent(viewAfterCall({ ...long, open: 1 }))).toEqual({ do: 'wait' });
    expect(nextOfAgent(view({ ...long, lastTurn: { calls: [] } }))).toEqual({ do: 'end', limit: null });
  });

  test('is compacted before a closing turn, unless the budget covers only the closing turn', () => {
    expect(nextOfAgent(viewAfterCall({ ...long, plan: { max_turns: 1 } }))).toEqual({ do: 'compact' });
    expect(nextOfAgent(viewAfterCall({ ...long, plan: { budget: 100 }, spent: 90, dearestTurn: 5 }))).toEqual(
      closes('budget'),
    );
  });

  test('is compacted after it was refused, and the turn is repeated if the budget covers it', () => {
    const refused = { lastTurn: null, overflow: 'compact' } as const;
    expect(nextOfAgent(view(refused))).toEqual({ do: 'compact' });
    expect(nextOfAgent(view({ ...refused, overflow: 'repeat' }))).toEqual(goesOn);
    expect(nextOfAgent(view({ ...refused, overflow: 'repeat', closing: 'max_turns' }))).toEqual(closes('max_turns'));
    const poor = { plan: { budget: 100 }, spent: 90, dearestTurn: 5 };
    expect(nextOfAgent(view({ ...refused, ...poor }))).toEqual({ do: 'end', limit: 'budget' });
    expect(nextOfAgent(view({ ...refused, ...poor, overflow: 'repeat' }))).toEqual(closes('budget'));
    const fails = { ...poor, plan: { budget: 100, on_limit: 'fail' as const } };
    expect(nextOfAgent(view({ ...refused, ...fails }))).toEqual({ do: 'fail', limit: 'budget' });
  });
});
