import { describe, expect, test } from 'vitest';
import { TenantQueue } from './queue.ts';
import { MAX_EXTRA_WORKERS, nextTurn, quantumOf, type RunningBatch } from './turns.ts';

const SIZE = 2;
const MAX_WORKERS = SIZE + MAX_EXTRA_WORKERS;
type Script = { tenant: string; ms: number; displaced: number };
type Running = RunningBatch & { script: Script; long: boolean };

/** The workers of a pool in virtual time. A script takes its own `ms`, however many scripts run at the same time. */
class Workers {
  now = 0;
  readonly running: Running[] = [];
  readonly ended: { script: Script; at: number }[] = [];
  readonly #fresh = new TenantQueue<Script>();
  readonly #displaced = new TenantQueue<Script>();

  run(tenant: string, ms = Number.POSITIVE_INFINITY): Script {
    const script = { tenant, ms, displaced: 0 };
    this.#fresh.push(tenant, script);
    this.#dispatch();
    return script;
  }

  /** Lets `ms` pass, in steps of 10. */
  pass(ms: number): void {
    for (const until = this.now + ms; this.now < until; ) {
      this.now += 10;
      for (const batch of [...this.running]) {
        batch.long = this.now - batch.atSince >= 100;
        if (this.now - batch.atSince < batch.script.ms) continue;
        this.running.splice(this.running.indexOf(batch), 1);
        this.ended.push({ script: batch.script, at: this.now });
      }
      this.#dispatch();
    }
  }

  /** Waits until the script has ended and returns how long that took, in ms. */
  timeOf(script: Script, atMost: number): number {
    const from = this.now;
    const ended = () => this.ended.find(end => end.script === script);
    while (!ended() && this.now - from < atMost) this.pass(10);
    return (ended()?.at ?? Number.POSITIVE_INFINITY) - from;
  }

  #dispatch(): void {
    const queues = { fresh: this.#fresh, displaced: this.#displaced };
    for (;;) {
      const turn = nextTurn<Running>(this.running, queues, { size: SIZE, now: this.now });
      if (!turn) return;
      if (turn.inPlaceOf) {
        const [batch] = this.running.splice(this.running.indexOf(turn.inPlaceOf), 1);
        if (batch) this.#displaced.push(batch.tenant, { ...batch.script, displaced: batch.displaced + 1 });
      }
      const [script] = (turn.isDisplaced ? this.#displaced : this.#fresh).take(turn.tenant, SIZE, 1);
      if (!script) throw new Error('an empty turn');
      const { tenant, displaced } = script;
      this.running.push({ tenant, displaced, script, long: false, atSince: this.now });
      expect(this.running.length).toBeLessThanOrEqual(MAX_WORKERS);
    }
  }
}

function hostile(workers: Workers, tenants: number, scripts = 3): void {
  for (let n = 0; n < tenants; n++) for (let script = 0; script < scripts; script++) workers.run(`hostile ${n}`);
}

describe('with any number of tenants with endless scripts, a later tenant gets a worker within seconds', () => {
  test.each([1, 2, MAX_WORKERS - 1, MAX_WORKERS, MAX_WORKERS + 1, 30])('%i tenants', tenants => {
    const workers = new Workers();
    hostile(workers, tenants);
    workers.pass(60_000);
    for (let n = 0; n < 5; n++) expect(workers.timeOf(workers.run('honest', 5), 60_000)).toBeLessThan(3_000);
  });

  test('also while their scripts start, and while each tenant starts new ones all the time', () => {
    const workers = new Workers();
    hostile(workers, 20);
    const times: number[] = [];
    for (let n = 0; n < 20; n++) {
      times.push(workers.timeOf(workers.run('honest', 5), 60_000));
      hostile(workers, 20, 1);
    }
    // Two workers, a second for each of the others.
    expect(Math.max(...times)).toBeLessThan(13_000);
  });
});

test('a displaced script starts again with twice the quantum, and ends although others never do', () => {
  const workers = new Workers();
  hostile(workers, 20, 1);
  workers.run('honest', 10_000);
  const found = () => workers.ended.find(({ script }) => script.tenant === 'honest');
  for (let second = 0; second < 600 && !found(); second++) {
    workers.pass(1_000);
    hostile(workers, 20, 1);
  }
  const displaced = found()?.script.displaced ?? 0;
  expect(displaced).toBeGreaterThan(0);
  expect(quantumOf(displaced)).toBeGreaterThan(quantumOf(displaced - 1));
});

test('no script is displaced while a worker can still be started', () => {
  const workers = new Workers();
  hostile(workers, MAX_WORKERS - 1, 1);
  workers.pass(120_000);
  workers.run('honest', 5);
  workers.pass(500);
  expect(workers.running.every(({ displaced }) => displaced === 0)).toBe(true);
  expect(workers.ended).toHaveLength(1);
});

test('no script is displaced before it has used its quantum', () => {
  const workers = new Workers();
  hostile(workers, MAX_WORKERS, 1);
  workers.pass(900);
  expect(workers.running).toHaveLength(MAX_WORKERS);
  const since = Math.min(...workers.running.map(({ atSince }) => atSince));
  workers.run('honest', 5);
  workers.pass(since + quantumOf(0) - 10 - workers.now);
  expect(workers.ended).toHaveLength(0);
  workers.pass(20);
  expect(workers.ended).toHaveLength(1);
});
