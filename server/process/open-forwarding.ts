import { Counter } from 'prom-client';
import { Forward } from '../api/forward/forward.ts';
import { assetsOfOthers } from '../api/forward/other-assets.ts';
import { createForwardSeal, type ForwardSeal } from '../api/forward/signature.ts';
import type { StaticAssets } from '../api/static-assets.ts';
import type { Services } from '../operation/services.ts';
import type { Alarm } from '../platform/clock.ts';
import type { MetricsRegistry } from './telemetry.ts';

/** The parts by which the surfaces of a node reach the node that leads. */
export type Forwarding = { forward: Forward; forwardSeal: ForwardSeal; otherAssets: StaticAssets };

/** Returns null outside of a cluster. */
export function openForwarding(
  { cluster, orchestrator, clock }: Pick<Services, 'cluster' | 'orchestrator' | 'clock'>,
  { masterKey, alarm, registry }: { masterKey: Uint8Array; alarm: Alarm; registry: MetricsRegistry },
): Forwarding | null {
  const forwards = new Counter({
    name: 'baton_forwards_total',
    help: 'Requests that were forwarded to the node that leads their workspace.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  if (cluster === null) return null;
  const forwardSeal = createForwardSeal(masterKey, clock);
  const forward = new Forward({
    self: cluster.node.id,
    ownerOf: tenantId => orchestrator.ownerOf(tenantId),
    seal: forwardSeal,
    alarm,
    count: outcome => forwards.inc({ outcome }),
  });
  return { forward, forwardSeal, otherAssets: assetsOfOthers(cluster, forward) };
}
