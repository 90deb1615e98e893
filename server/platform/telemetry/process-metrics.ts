import type { Pool } from 'pg';
import { Gauge, type Registry } from 'prom-client';
import { REPLICATION_STATES, type ReplicationWatch } from '../postgres/replication.ts';

/** Exposes the build as labels of a gauge that is always 1, for joins, and to find the build that changed a graph. */
export function buildInfo(registry: Registry, version: string): void {
  new Gauge({
    name: 'baton_build_info',
    help: 'Always 1; the build and its Node as labels.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version, node: process.version }, 1);
}

/** Exposes the usage of the database pool, which the pool itself counts; read at a scrape. */
export function poolMetrics(registry: Registry, pool: Pick<Pool, 'totalCount' | 'idleCount' | 'waitingCount'>): void {
  new Gauge({
    name: 'baton_database_connections',
    help: 'Connections of the pool, without the session that writes the log.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'used' }, pool.totalCount - pool.idleCount);
    },
  });
  new Gauge({
    name: 'baton_database_waiting',
    help: 'Queries that wait for a connection of the pool.',
    registers: [registry],
    collect() {
      this.set(pool.waitingCount);
    },
  });
}

/** Exposes how an external database replicates, as it was last seen; for the embedded one (`watch` is null) nothing. */
export function replicationMetrics(registry: Registry, watch: Pick<ReplicationWatch, 'state'> | null): void {
  new Gauge({
    name: 'baton_database_replication',
    help: '1 for the state in which the replication of the database was last seen.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      if (watch === null) return;
      for (const state of REPLICATION_STATES) this.set({ state }, watch.state() === state ? 1 : 0);
    },
  });
}

/** Returns a function that sets the gauge which shows that retention does not trust the clock. */
export function retentionMetrics(registry: Registry): { clockDoubted(doubted: boolean): void } {
  const doubt = new Gauge({
    name: 'baton_retention_clock_doubted',
    help: '1 while retention deletes nothing because it cannot trust the clock.',
    registers: [registry],
  });
  return { clockDoubted: doubted => doubt.set(doubted ? 1 : 0) };
}
