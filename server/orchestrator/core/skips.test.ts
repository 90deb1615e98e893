import { describe, expect, test } from 'vitest';
import { began, boom, changed, done, episode, skipped, startData, started } from '../../testing/engine/facts.ts';
import { specification } from '../../testing/engine/specification.ts';
import type { Command, GraphStep, JsonValue } from './index.ts';

const condition = (id: string, branches: { then?: string[]; else?: string[] }, more: object = {}): GraphStep => ({
  id,
  type: 'condition',
  ...branches,
  ...more,
});
const x = (id: string, depends_on: string[] = [], more: object = {}): GraphStep => ({
  id,
  type: 'x',
  depends_on,
  ...more,
});
const succeed = (step: string, result: JsonValue = null): Command => ({
  type: 'attempt_succeeded',
  step,
  attempt: 1,
  result,
});
const THEN = { value: true, branch: 'then' };
const ELSE = { value: false, branch: 'else' };

describe('branches', () => {
  const forked = specification(
    condition('c', { then: ['yes'], else: ['no'] }),
    x('yes', ['c']),
    x('no', ['c']),
    x('after_no', ['no']),
    x('always', ['c']),
    x('join', ['yes', 'after_no']),
  );

  test('the branch not taken is skipped, with every step that has no other reason to run', () => {
    forked
      .given(started(), began('c'))
      .when(succeed('c', THEN))
      .then(done('c', THEN), skipped('no', 'branch_not_taken'), skipped('after_no', 'branch_not_taken'));
  });

  test('dependents that no branch names run in either case', () => {
    const after = forked.given(started(), began('c')).when(succeed('c', THEN)).state();
    expect([...after.ready]).toEqual(['yes', 'always']);
  });

  test('a join runs when at least one of its dependencies was not skipped by a branch', () => {
    const state = forked
      .given(
        started(),
        began('c'),
        done('c', ELSE),
        skipped('yes', 'branch_not_taken'),
        began('no'),
        done('no'),
        began('after_no'),
        done('after_no'),
      )
      .state();
    expect([...state.ready]).toEqual(['always', 'join']);
  });

  test('a step in both branches runs in either case; a named step without the dependency is ignored', () => {
    specification(condition('c', { then: ['both', 'far'], else: ['both'] }), x('both', ['c']), x('far', ['both']))
      .given(started(), began('c'))
      .when(succeed('c', ELSE))
      .then(done('c', ELSE));
  });

  test('a join of two branches runs in either case, even if the branch not taken leads directly to it', () => {
    const rejoined = specification(
      condition('c', { then: ['a'], else: ['m'] }),
      x('a', ['c']),
      x('m', ['a', 'c']),
      x('after', ['m']),
    );
    rejoined.given(started(), began('c')).when(succeed('c', THEN)).then(done('c', THEN));
    const taken = rejoined.given(started(), began('c'), done('c', THEN), began('a'), done('a'));
    expect([...taken.state().ready]).toEqual(['m']);
    const other = rejoined.given(started(), began('c')).when(succeed('c', ELSE));
    other.then(done('c', ELSE), skipped('a', 'branch_not_taken'));
    expect([...other.state().ready]).toEqual(['m']);
  });

  test('a step runs by the edge of another dependency, in whichever order they end', () => {
    const graph = specification(x('a'), condition('c', { then: ['b'] }), x('b', ['a', 'c']));
    const late = graph.given(started(), began('a'), began('c'), done('a')).when(succeed('c', ELSE));
    late.then(done('c', ELSE));
    expect([...late.state().ready]).toEqual(['b']);
    const early = graph.given(started(), began('a'), began('c'), done('c', ELSE)).when(succeed('a'));
    early.then(done('a'));
    expect([...early.state().ready]).toEqual(['b']);
  });

  test('a step that two conditions exclude is skipped; one taken edge suffices to run it', () => {
    const graph = specification(
      condition('c', { then: ['b'] }),
      condition('d', { then: ['b'] }),
      x('b', ['c', 'd']),
      x('after', ['b', 'd']),
    );
    const given = graph.given(started(), began('c'), began('d'), done('c', ELSE));
    const neither = given.when(succeed('d', ELSE));
    neither.then(done('d', ELSE), skipped('b', 'branch_not_taken'));
    // No branch names `after`: its edge from `d` is taken.
    expect([...neither.state().ready]).toEqual(['after']);
    expect([...given.when(succeed('d', THEN)).state().ready]).toEqual(['b']);
  });

  test('the edges of a failed step that continues, and of a disabled step, are taken', () => {
    const graph = specification(
      x('failing', [], { on_error: 'continue' }),
      x('off', [], { disabled: true }),
      condition('c', { then: ['b', 'd'] }),
      x('b', ['failing', 'c']),
      x('d', ['off', 'c']),
    );
    const { state } = graph
      .given(started(), skipped('off', 'step_disabled'), began('failing'), began('c'), done('c', ELSE))
      .when({ type: 'attempt_failed', step: 'failing', attempt: 1, error: boom, retryable: false, random: 0 });
    expect([...state().ready]).toEqual(['d', 'b']);
  });

  test('the edges of a skipped join are not taken', () => {
    specification(
      condition('c', { then: ['t'], else: ['m'] }),
      x('t', ['c']),
      condition('d', { then: ['m'] }, { depends_on: ['t'] }),
      x('m', ['c', 'd']),
      x('after', ['m']),
    )
      .given(started(), began('c'), done('c', THEN), began('t'), done('t'), began('d'))
      .when(succeed('d', ELSE))
      .then(
        done('d', ELSE),
        skipped('m', 'branch_not_taken'),
        skipped('after', 'branch_not_taken'),
        changed('running', 'completed'),
      );
  });

  test('a skip waits for all dependencies, so the order is kept', () => {
    specification(x('a'), condition('c', { then: ['b'] }), x('b', ['a', 'c']))
      .given(started(), began('a'), began('c'))
      .when(succeed('c', ELSE))
      .then(done('c', ELSE));
  });

  test('a disabled condition takes no branch: both sides run', () => {
    const after = specification(
      condition('c', { then: ['yes'], else: ['no'] }, { disabled: true }),
      x('yes', ['c']),
      x('no', ['c']),
    )
      .given()
      .when({ type: 'start', data: startData() })
      .state();
    expect([...after.ready]).toEqual(['yes', 'no']);
    expect(after.results.has('c')).toBe(false);
  });

  test('a condition in validate mode has no branches', () => {
    specification(
      condition('c', { then: ['yes'], else: ['no'] }, { mode: 'validate' }),
      x('yes', ['c']),
      x('no', ['c']),
    )
      .given(started(), began('c'))
      .when(succeed('c', THEN))
      .then(done('c', THEN));
  });

  test('a step of another type cannot branch, whatever its result', () => {
    specification(x('c', [], { then: ['yes'], else: ['no'] }), x('yes', ['c']), x('no', ['c']))
      .given(started(), began('c'))
      .when(succeed('c', THEN))
      .then(done('c', THEN));
  });

  test('an inherited branch is no branch', () => {
    specification(condition('c', { then: ['yes'], else: ['no'] }), x('yes', ['c']), x('no', ['c']))
      .given(started(), began('c'))
      .when(succeed('c', { branch: 'constructor' }))
      .then(done('c', { branch: 'constructor' }));
  });
});

describe('in a run from before branches decided edges', () => {
  const before = started({ branch_rule: undefined });

  test('the branch not taken skips a step whatever its other dependencies', () => {
    specification(x('a'), condition('c', { then: ['b'] }), x('b', ['a', 'c']))
      .given(before, began('a'), began('c'), done('a'))
      .when(succeed('c', ELSE))
      .then(done('c', ELSE), skipped('b', 'branch_not_taken'), changed('running', 'completed'));
  });

  test('the branch counts, too, for what another dependency ends later', () => {
    const run = specification(x('a'), condition('c', { then: ['b'] }), x('b', ['a', 'c']))
      .given(before, began('a'), began('c'), done('c', ELSE))
      .when(succeed('a'));
    run.then(done('a'), skipped('b', 'branch_not_taken'), changed('running', 'completed'));
    expect(run.state().steps.get('b')).toMatchObject({ status: 'skipped', skipReason: 'branch_not_taken', attempt: 0 });
  });

  test('a start records the rule that its run obeys', () => {
    const { branch_rule: _rule, ...data } = startData();
    specification(x('a'))
      .given()
      .when({ type: 'start', data })
      .then(started({ branch_rule: 'edges' }));
  });
});

describe('precedence: branch, then scope, then disabled', () => {
  const graph = [
    condition('c', { then: ['t'], else: ['gated_off', 'off'] }),
    x('t', ['c']),
    x('gated_off', ['c'], { gated: true, disabled: true }),
    x('off', ['c'], { disabled: true }),
  ];

  test('a step on a branch not taken has that reason, even if it is gated and disabled', () => {
    specification(...graph)
      .given(started(), began('c'))
      .when(succeed('c', THEN))
      .then(done('c', THEN), skipped('gated_off', 'branch_not_taken'), skipped('off', 'branch_not_taken'));
  });

  test('a gated and disabled step on the branch taken is out of scope; a disabled one is disabled', () => {
    specification(...graph)
      .given(started(), began('c'))
      .when(succeed('c', ELSE))
      .then(
        done('c', ELSE),
        skipped('t', 'branch_not_taken'),
        skipped('gated_off', 'out_of_scope'),
        skipped('off', 'step_disabled'),
        changed('running', 'completed'),
      );
  });
});

describe('disabled and gated steps', () => {
  test('a disabled dependency counts as done, once its own dependencies have ended', () => {
    const spec = specification(x('a'), x('off', ['a'], { disabled: true }), x('b', ['off']));
    spec.given(started(), began('a')).when(succeed('a')).then(done('a'), skipped('off', 'step_disabled'));
    const state = spec.given(started(), began('a'), done('a'), skipped('off', 'step_disabled')).state();
    expect([...state.ready]).toEqual(['b']);
  });

  test('a gated step runs only if trigger_steps names it', () => {
    const spec = specification(x('a', [], { gated: true }));
    spec
      .given()
      .when({ type: 'start', data: startData() })
      .then(started(), skipped('a', 'out_of_scope'), changed('running', 'completed'));
    spec
      .given()
      .when({ type: 'start', data: startData({ trigger_steps: { a: {} } }) })
      .then(started({ trigger_steps: { a: {} } }));
  });
});

describe('episodes', () => {
  const graph = [
    x('a'),
    condition('c', { then: ['yes'], else: ['no'] }, { depends_on: ['a'] }),
    x('yes', ['c']),
    x('no', ['c']),
    x('end', ['yes', 'no']),
  ];

  test('only the named steps and their descendants run', () => {
    const named = specification(...graph)
      .given()
      .when({ type: 'start', data: episode(['yes']) });
    named.then(
      started(episode(['yes'])),
      skipped('a', 'out_of_scope'),
      skipped('c', 'out_of_scope'),
      skipped('no', 'out_of_scope'),
    );
    expect([...named.state().ready]).toEqual(['yes']);
  });

  test('the seeds become the results of the excluded steps only', () => {
    const seeds = { a: 1, c: { value: true }, yes: 'not mine', nowhere: 3 };
    const after = specification(...graph)
      .given()
      .when({ type: 'start', data: episode(['yes'], seeds) })
      .state();
    expect([...after.results]).toEqual([
      ['a', 1],
      ['c', { value: true }],
    ]);
  });

  test('the seeded branch of a condition is taken', () => {
    specification(...graph, x('more', ['no']))
      .given()
      .when({ type: 'start', data: episode(['end'], { c: THEN }) })
      .then(
        started(episode(['end'], { c: THEN })),
        skipped('a', 'out_of_scope'),
        skipped('c', 'out_of_scope'),
        skipped('yes', 'out_of_scope'),
        skipped('no', 'branch_not_taken'),
        skipped('more', 'branch_not_taken'),
      );
  });

  test('a named step runs even if the seeds exclude it', () => {
    const runNamed = (named: string) =>
      specification(...graph, x('more', ['no']))
        .given()
        .when({ type: 'start', data: episode([named], { c: THEN }) })
        .state();
    expect([...runNamed('no').ready]).toEqual(['no']);
    expect([...runNamed('more').ready]).toEqual(['more']);
  });

  test('a branch taken within the episode counts for named steps too', () => {
    specification(...graph)
      .given(started(episode(['c', 'no'])), skipped('a', 'out_of_scope'), began('c'))
      .when(succeed('c', THEN))
      .then(done('c', THEN), skipped('no', 'branch_not_taken'));
  });

  test('the edges from outside the episode are taken for a named step', () => {
    const within = specification(
      x('o'),
      condition('c', { then: ['yes'], else: ['no'] }),
      x('yes', ['c']),
      x('no', ['c', 'o']),
    )
      .given(started(episode(['c', 'no'])), skipped('o', 'out_of_scope'), began('c'))
      .when(succeed('c', THEN));
    within.then(done('c', THEN));
    expect([...within.state().ready]).toEqual(['yes', 'no']);
  });

  test('a gated descendant that is not named is skipped', () => {
    specification(x('a'), x('b', ['a'], { gated: true }))
      .given(started(episode(['a'])), began('a'))
      .when(succeed('a'))
      .then(done('a'), skipped('b', 'out_of_scope'), changed('running', 'completed'));
  });

  test('an episode without named steps skips everything', () => {
    specification(x('a'))
      .given()
      .when({ type: 'start', data: episode([]) })
      .then(started(episode([])), skipped('a', 'out_of_scope'), changed('running', 'completed'));
  });

  test('outside episodes a seed does not choose a branch', () => {
    const data = startData({ seed_results: { c: THEN } });
    const after = specification(condition('c', { else: ['no'] }, { gated: true }), x('no', ['c']))
      .given()
      .when({ type: 'start', data })
      .state();
    expect([...after.ready]).toEqual(['no']);
    expect(after.results.get('c')).toEqual(THEN);
  });
});
