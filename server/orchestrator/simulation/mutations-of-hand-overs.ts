import type { Mutation } from './mutations.ts';

const HAND_OVER = 'runtime/runs/hand-over.ts';
const CLUSTERS = { clusters: 100, commands: 6 };

/** Ways to take and give shards that lose, double or abort something. */
export const HAND_OVERS: readonly Mutation[] = [
  {
    name: 'a shard is given while its attempts execute',
    file: HAND_OVER,
    find: 'for (const tenantId of slots.inUseByTenant().keys()) if (led.contains(shard, tenantId)) return true;',
    replace: 'return false;',
    caughtBy: ['moves', 'owner', 'attempts'],
    knobs: CLUSTERS,
  },
  {
    name: 'a shard whose move is called off accepts nothing any more',
    file: HAND_OVER,
    find: '  led.take(shard);\n  for (const run',
    replace: '  for (const run',
    caughtBy: ['liveness', 'not-stuck'],
    knobs: CLUSTERS,
  },
  {
    name: 'the runs of a shard that was given stay in memory',
    file: HAND_OVER,
    find: '    run.drop(error);',
    replace: '',
    caughtBy: ['memory', 'not-stuck', 'liveness', 'owner', 'stream'],
    knobs: CLUSTERS,
  },
  {
    name: 'a shard is executed before its lock is held',
    file: 'runtime/leadership/placement.ts',
    find: 'const shards = wanted.filter((_, index) => granted[index]);',
    replace: 'const shards = wanted;',
    caughtBy: ['owner', 'leadership', 'liveness'],
    knobs: CLUSTERS,
  },
  {
    name: 'the lock of a shard that was given is kept',
    file: 'runtime/leadership/placement.ts',
    find: '        await session.give(shard);\n        logger.info',
    replace: '        logger.info',
    caughtBy: ['liveness'],
    knobs: CLUSTERS,
  },
  {
    name: 'a shard that nobody leads is left to nobody',
    file: 'runtime/leadership/placement.ts',
    find: 'if (planned.get(shard) === id ||',
    replace: 'if (planned.get(shard) !== id &&',
    caughtBy: ['liveness'],
    knobs: CLUSTERS,
  },
];
