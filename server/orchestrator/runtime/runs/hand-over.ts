import type { Alarm } from '../../../platform/clock.ts';
import { pause } from '../../../platform/deadlines.ts';
import type { RunSnapshot } from '../../ports/orchestrator.ts';
import type { CreditMeter } from '../credits/credit-meter.ts';
import type { LedShards } from './led-shards.ts';
import type { LiveRun } from './live-run.ts';
import { movedElsewhere } from './refusals.ts';
import type { RunStarts } from './run-starts.ts';
import type { Slots } from './slots.ts';
import type { TurnQueue } from './turn-queue.ts';
import type { WakeUpTimers } from './wake-up-timers.ts';

/** The longest that a workspace waits for the end of its attempts, so that its shard can move. */
const QUIET_WITHIN_MS = 2_000;
const LOOK_EVERY_MS = 20;

type Host = {
  led: LedShards;
  live: Map<string, LiveRun>;
  starting: ReadonlyMap<string, Promise<RunSnapshot>>;
  slots: Slots;
  turns: TurnQueue;
  wakeUpTimers: WakeUpTimers;
  meter: CreditMeter;
  starts: RunStarts;
  alarm: Alarm;
};

/**
 * Stops executing the runs of a shard, without ending any attempt for that: accepts no command and begins no step of
 * theirs, waits until nothing of theirs is in progress, and forgets them. Returns false where that took too long, or
 * `signal` aborted: then they go on here. When it returns true, everything is committed, and nothing more is written.
 */
export async function giveShard(host: Host, shard: number, signal: AbortSignal): Promise<boolean> {
  const { led, live, starting, alarm } = host;
  led.leave(shard);
  // A start that was accepted before this commits, or is refused.
  let isStarting = true;
  void Promise.allSettled([...starting.values()]).then(() => {
    isStarting = false;
  });
  for (const run of live.values()) if (led.contains(shard, run.tenantId)) run.catchUp();
  for (let waited = 0; signal.aborted || isStarting || isBusy(host, shard); waited += LOOK_EVERY_MS) {
    if (signal.aborted || waited >= QUIET_WITHIN_MS) {
      keep(host, shard);
      return false;
    }
    await pause(alarm, LOOK_EVERY_MS, signal);
  }
  forget(host, shard);
  return true;
}

function isBusy({ led, live, slots }: Host, shard: number): boolean {
  for (const tenantId of slots.inUseByTenant().keys()) if (led.contains(shard, tenantId)) return true;
  for (const run of live.values()) if (led.contains(shard, run.tenantId) && !run.isSettled) return true;
  return false;
}

function keep({ led, live }: Host, shard: number): void {
  led.take(shard);
  for (const run of live.values()) if (led.contains(shard, run.tenantId)) run.wake();
}

function forget({ led, live, turns, wakeUpTimers, meter, starts }: Host, shard: number): void {
  const isOfShard = (tenantId: string) => led.contains(shard, tenantId);
  led.drop(shard);
  const error = movedElsewhere();
  for (const [runId, run] of live) {
    if (!isOfShard(run.tenantId)) continue;
    live.delete(runId);
    turns.delete(run);
    run.drop(error);
  }
  wakeUpTimers.forget(isOfShard);
  meter.forget(isOfShard);
  starts.forget(isOfShard);
}
