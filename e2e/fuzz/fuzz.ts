import { setTimeout as delay } from 'node:timers/promises';
import type { Measurement } from '../fixtures/preload.ts';
import type { Service } from '../fixtures/service.ts';
import { type Batch, batchOf, exchange } from './exchange.ts';
import type { World } from './requests.ts';

export type FuzzOptions = {
  service: Service;
  world: World;
  seed: number;
  /** The minimum number of cases. */
  cases: number;
  /** The number of the first batch, so that a failed batch can be sent separately. */
  first?: number;
};

export type FuzzReport = {
  cases: number;
  connections: number;
  seconds: number;
  statuses: Record<number, number>;
  /** The slowest answer to a client that requested `/healthz` alongside, in ms. */
  slowestProbeMs: number;
  before: Measurement;
  after: Measurement;
};

const CONNECTIONS = 8;
/** The number of connections after which all code is loaded and compiled. */
const WARM_UP = 100;

/**
 * Sends seeded cases to a service. Throws with the seed, the batch and the output of the service if it died, did not answer, did not close
 * a connection, or answered with an internal error.
 */
export async function fuzz({ service, world, seed, cases, first = 0 }: FuzzOptions): Promise<FuzzReport> {
  const port = Number(new URL(service.url).port);
  const statuses: Record<number, number> = {};
  let next = first;
  let sent = 0;
  let connections = 0;
  const lane = async (until: () => boolean) => {
    while (!until()) {
      const batch = batchOf(seed, next++, world);
      const outcome = await exchange(port, batch);
      for (const status of outcome.statuses) statuses[status] = (statuses[status] ?? 0) + 1;
      const problem = outcome.problem ?? (service.alive ? null : 'the service died');
      if (problem !== null) throw new Error(explain(problem, seed, batch, service));
      sent += batch.cases.length;
      connections += 1;
    }
  };
  const lanes = (until: () => boolean) => Promise.all(Array.from({ length: CONNECTIONS }, () => lane(until)));
  const probing = probe(service);
  const began = performance.now();
  await lanes(() => connections >= WARM_UP || sent >= cases);
  const before = await settledMeasurement(service);
  await lanes(() => sent >= cases);
  const seconds = (performance.now() - began) / 1000;
  const slowestProbeMs = await probing.stop();
  const after = await settledMeasurement(service);
  return { cases: sent, connections, seconds, statuses, slowestProbeMs, before, after };
}

/** Waits for connections that close a little later, such as a WebSocket that waits for its close frame. */
async function settledMeasurement(service: Service): Promise<Measurement> {
  await delay(300);
  return service.measure({ collectGarbage: true });
}

/** Requests `/healthz` repeatedly; `stop` returns the slowest answer in ms, or rejects if there was none. */
function probe(service: Service): { stop(): Promise<number> } {
  let stopped = false;
  let slowest = 0;
  const requests = (async () => {
    while (!stopped) {
      const began = performance.now();
      const answer = await fetch(`${service.url}/healthz`);
      await answer.text();
      slowest = Math.max(slowest, performance.now() - began);
      await delay(20);
    }
  })();
  requests.catch(() => undefined); // reported by `stop`
  return {
    async stop() {
      stopped = true;
      await requests;
      return Math.round(slowest);
    },
  };
}

function explain(problem: string, seed: number, { number, cases, frames }: Batch, service: Service): string {
  const sent = [...cases, frames]
    .map(one => JSON.stringify(one.length > 2000 ? `${one.slice(0, 2000)}…` : one))
    .join('\n');
  return `${problem}\nagain: npm run fuzz -- --seed ${seed} --first ${number} --cases ${cases.length}\nsent on the connection:\n${sent}\nThe service wrote:\n${service.output()}`;
}
