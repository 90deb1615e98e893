import { Forward, type ForwardOutcome } from '../api/forward/forward.ts';
import { createForwardSeal, type ForwardSeal } from '../api/forward/signature.ts';
import type { AnyOperation } from '../operation/operation.ts';
import type { Services } from '../operation/services.ts';
import type { Owner } from '../orchestrator/ports/orchestrator.ts';
import { systemAlarm, systemClock } from '../platform/clock.ts';
import { startTestApi, type TestApi } from './api.ts';

/** One node in this process. `owner` is the node that it takes for the leader. */
export type TestNode = TestApi & { owner: Owner; outcomes: ForwardOutcome[]; forward: Forward };

export const testSeal = (): ForwardSeal => createForwardSeal(Buffer.alloc(32, 7), systemClock);

/** Starts a node, which at first knows of no leader. */
export async function startTestNode(
  self: string,
  services: Services,
  operations: readonly AnyOperation[],
  options: Parameters<typeof startTestApi>[2] = {},
): Promise<TestNode> {
  const known: { owner: Owner } = { owner: { kind: 'unknown' } };
  const outcomes: ForwardOutcome[] = [];
  const seal = testSeal();
  const forward = new Forward({
    self,
    ownerOf: () => known.owner,
    seal,
    alarm: systemAlarm,
    count: outcome => outcomes.push(outcome),
  });
  const api = await startTestApi(services, operations, { ...options, cluster: { forward, seal } });
  return Object.assign(known, api, {
    outcomes,
    forward,
    async close() {
      forward.close();
      await api.close();
    },
  });
}
