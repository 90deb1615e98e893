import type { Mutation } from './mutations.ts';

/** Ways to break how slots are shared between tenants. */
export const SLOTS: readonly Mutation[] = [
  {
    name: 'a run takes all the slots that it wants at once',
    file: 'executors/embedded/slots.ts',
    find: 'claimant.grant();\n      if (claimant.wants()) {',
    replace:
      'claimant.grant();\n      for (; claimant.wants() && this.#mayTake(tenant) && tenant.steps < this.#limits.maxPerTenant; claimant.grant()) {\n        tenant.steps += 1;\n        this.#steps += 1;\n      }\n      if (claimant.wants()) {',
    caughtBy: ['fairness'],
  },
  {
    name: 'a run that wants nothing costs its tenant its turn',
    file: 'executors/embedded/slots.ts',
    find: 'if (claimant.wants()) return claimant;',
    replace: 'return claimant.wants() ? claimant : undefined;',
    caughtBy: ['fairness', 'not-stuck'],
  },
  {
    name: 'a tenant gets one slot more than it may',
    file: 'executors/embedded/slots.ts',
    find: 'tenant.steps >= this.#limits.maxPerTenant',
    replace: 'tenant.steps > this.#limits.maxPerTenant',
    caughtBy: ['slots'],
  },
  {
    name: 'a tenant takes the last free slots',
    file: 'executors/embedded/slots.ts',
    find: 'steps < this.#guaranteed || steps < this.#free;',
    replace: 'steps < this.#guaranteed || this.#free > 0;',
    caughtBy: ['slots'],
  },
  {
    name: 'a tenant waits for a slot that it is guaranteed',
    file: 'executors/embedded/slots.ts',
    find: 'steps < this.#guaranteed || steps < this.#free;',
    replace: 'steps < this.#free;',
    caughtBy: ['fairness', 'not-stuck'],
  },
  {
    name: 'a tenant that waits for its share is forgotten',
    file: 'executors/embedded/slots.ts',
    find: '#park(tenant: Tenant): void {',
    replace: '#park(tenant: Tenant): void {\n    if (tenant.steps > 0) return;',
    caughtBy: ['not-stuck', 'fairness'],
  },
  {
    name: 'a tenant that waits for its share comes after those who hold as much',
    file: 'executors/embedded/slots.ts',
    find: 'if (next !== undefined) {',
    replace: 'if (next !== undefined && next === tenant) {',
    caughtBy: ['fairness'],
  },
  {
    name: 'calls are moved without a limit',
    file: 'executors/embedded/slots.ts',
    find: 'if (tenant.calls >= this.#guaranteed &&',
    replace: 'if (tenant.calls < 0 &&',
    caughtBy: ['slots'],
  },
  {
    name: 'the slot that a call leaves is not given out',
    file: 'executors/embedded/runtime.ts',
    find: 'if (moved) this.#slotFreed();',
    replace: '',
    caughtBy: ['not-stuck'],
    knobs: { hostile: 40 },
  },
  {
    name: 'a call is given back as a slot',
    file: 'executors/embedded/live-run.ts',
    find: 'this.#host.releaseSlot(this.tenantId, live.slot);',
    replace: "this.#host.releaseSlot(this.tenantId, 'step');",
    caughtBy: ['slots'],
  },
];
