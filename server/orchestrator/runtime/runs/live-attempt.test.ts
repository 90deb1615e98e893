import { afterAll, expect, test } from 'vitest';
import { createLogger } from '../../../platform/logger.ts';
import { DEFAULT_CONFIG, ManualTime } from '../../../testing/engine/runtime.ts';
import { compile, type GraphStep, newRun } from '../../core/index.ts';
import { LuaPool } from '../../languages/lua/index.ts';
import type { LogReader } from '../../log/index.ts';
import { FREE } from '../../ports/credits.ts';
import { unobserved } from '../../ports/observer.ts';
import type { Outcome } from '../../ports/step-type.ts';
import { luaScript } from '../../steps/lua-script/lua-script.ts';
import { RunResources } from '../memory/run-resources.ts';
import { FaultLog } from './fault-log.ts';
import { LiveAttempt } from './live-attempt.ts';
import { Timers } from './timers.ts';

const pool = new LuaPool({ workers: 1 });
const type = luaScript(pool);
afterAll(() => pool.close());

/** Starts an attempt of a script on `time`; `timed` settles when its `timeout_s` begins to run. */
function start(time: ManualTime, script: string) {
  const timers = new Timers(time.clock, time.alarm);
  const timed = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<Outcome>();
  const step: GraphStep = { id: 's', type: 'lua_script', script, timeout_s: 60 };
  const identity = { runId: 'r', workflowId: 'w', version: 1, tenantId: 't', projectId: 'p' };
  const attempt = new LiveAttempt(
    {
      identity,
      state: newRun('r', compile({ steps: [step] })),
      step,
      attempt: 1,
      credits: { prices: FREE.prices, reserver: () => undefined },
    },
    { attemptEnded: (_, outcome) => ended.resolve(outcome), attemptLogged: () => {} },
    {
      observer: unobserved,
      now: () => time.clock.now(),
      setTimer: (dueAt, fire) => {
        timed.resolve(dueAt);
        return timers.set(dueAt, fire);
      },
      cancelTimer: timer => timers.cancel(timer),
      faults: new FaultLog(createLogger('silent')),
      resources: new RunResources(
        { config: DEFAULT_CONFIG, reader: {} as LogReader, defer: setImmediate, clock: time.clock, alarm: time.alarm },
        () => false,
      ),
    },
  );
  attempt.start(type);
  return { timers, timed: timed.promise, ended: ended.promise };
}

test('a script that waits for a worker does not time out; its time runs from its own start', async () => {
  const time = new ManualTime();
  const endless = start(time, 'while true do end');
  await endless.timed;
  const queued = start(time, 'return 1');
  const queuedEndless = start(time, 'while true do end');
  time.advance(59_000);
  expect(queued.timers.size).toBe(0);
  time.advance(1_000);
  expect(await endless.ended).toMatchObject({ kind: 'failed', error: { code: 'step_timed_out' } });
  expect(await queued.ended).toEqual({ kind: 'completed', result: 1 });
  expect(await queuedEndless.timed).toBe(time.clock.now() + 60_000);
  time.advance(60_000);
  expect(await queuedEndless.ended).toMatchObject({ error: { code: 'step_timed_out' } });
});
