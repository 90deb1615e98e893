import { expect, test } from 'vitest';
import { asked, began, boom, done, retrying, started } from '../../testing/engine/facts.ts';
import { type Fact, NOW, specification } from '../../testing/engine/specification.ts';
import type { Command, Decision, JsonMap } from './index.ts';

const spec = specification({ id: 'send', type: 'x', retry_count: 1 }, { id: 'next', type: 'x', depends_on: ['send'] });
/** The process ended during the first attempt, so the second one asks. */
const lost = [started(), began('send'), began('send', 2)];
const waiting = [...lost, asked('send', { in_doubt: true, on_timeout: 'reject' }, 2)];
const answer = (approved: boolean, result: JsonMap = {}): Command => ({
  type: 'complete_task',
  step: 'send',
  approved,
  result,
  by: 'bob',
});
const decided = (decision: Decision, by: string | null = 'bob', attempt = 2): Fact => ({
  type: 'task_completed',
  step: 'send',
  attempt,
  data: {
    approved: decision !== 'skip',
    completed_by: by,
    ...(by === null && { timed_out: true as const }),
    decision,
  },
});
const notRepeated: Fact = {
  type: 'step_completed',
  step: 'send',
  attempt: 2,
  data: { skipped: true, reason: 'not_repeated' },
};

test('a step is in doubt once an attempt was lost, whatever the outcomes of later attempts', () => {
  const isInDoubt = (...facts: Fact[]) =>
    spec
      .given(...facts)
      .state()
      .steps.get('send')?.inDoubt;
  expect(isInDoubt(started(), began('send'))).toBeUndefined();
  expect(isInDoubt(started(), began('send'), retrying('send', 1_000), began('send', 2))).toBeUndefined();
  expect(isInDoubt(...lost)).toBe(true);
  expect(isInDoubt(...lost, retrying('send', 1_000, 2, boom), began('send', 3))).toBe(true);
  expect(isInDoubt(...waiting, decided('repeat'), began('send', 3))).toBeUndefined();
  expect(isInDoubt(...waiting, decided('repeat'), began('send', 3), began('send', 4))).toBe(true);
});

test.each<[string, Command]>([
  ['an approval', answer(true)],
  ['the choice to repeat it', answer(true, { choice: 'repeat', result: { id: 7 } })],
])('%s starts it again, while its dependents still wait', (_, command) => {
  const run = spec.given(...waiting).when(command);
  run.then(decided('repeat'));
  expect([...run.state().ready]).toEqual(['send']);
  expect(run.state().waiting.size).toBe(0);
  spec
    .given(...waiting, decided('repeat'))
    .when({ type: 'start_attempt', step: 'send' })
    .then(began('send', 3));
});

test.each<[string, Command]>([
  ['a rejection', answer(false, { choice: 'repeat' })],
  ['the choice to skip it', answer(true, { choice: 'skip' })],
])('%s ends it without a result, and the run continues', (_, command) => {
  const run = spec.given(...waiting).when(command);
  run.then(decided('skip'), notRepeated);
  expect([...run.state().ready]).toEqual(['next']);
  expect(run.state().results.has('send')).toBe(false);
});

test('a result that a person enters becomes the result of the step, unchanged', () => {
  const run = spec.given(...waiting).when(answer(true, { choice: 'result', result: { id: 7 } }));
  run.then(decided('result'), done('send', { id: 7 }, 2));
  expect([...run.state().ready]).toEqual(['next']);
});

test.each(['reject', 'approve'] as const)('an unanswered task: on_timeout %s', on_timeout => {
  const asking = asked('send', { in_doubt: true, on_timeout, due_at: NOW + 1 }, 2);
  const run = spec.given(...lost, asking).when({ type: 'task_timed_out', step: 'send' }, NOW + 1);
  if (on_timeout === 'approve') run.then(decided('repeat', null));
  else run.then(decided('skip', null), notRepeated);
});

test('a late answer is refused, also while the step is being repeated; if that attempt is lost, the step asks again', () => {
  const repeated = [...waiting, decided('repeat'), began('send', 3)];
  spec
    .given(...repeated)
    .when(answer(true))
    .thenRefused('task_already_completed');
  const again = [...repeated, began('send', 4), asked('send', { in_doubt: true }, 4)];
  spec
    .given(...again)
    .when(answer(true))
    .then(decided('repeat', 'bob', 4));
});
