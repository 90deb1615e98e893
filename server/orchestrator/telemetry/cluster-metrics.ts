import { Gauge, type Registry } from 'prom-client';
import type { Cluster } from '../ports/cluster.ts';

/** Exposes how this node sees the cluster; read at a scrape. All are 0 without a cluster. */
export function clusterMetrics(registry: Registry, cluster: Cluster | null): void {
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  gauge(
    'baton_cluster_members',
    'Nodes that this one sees, itself included; 0 while it is no member.',
    () => cluster?.members().length ?? 0,
  );
  gauge('baton_cluster_led', '1 if this node knows who leads.', () => (cluster?.isLed() ? 1 : 0));
  gauge('baton_cluster_cut_off', '1 while no other node answers this one.', () => (cluster?.isCutOff() ? 1 : 0));
}
