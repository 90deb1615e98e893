/**
 * A target of docs/benchmarks.md#targets: a figure of a workload and its bound. The bound is the minimum for a figure in `/s` and for a
 * recall, and the maximum for any other.
 */
export type Target = { workload: string; figure: string; reach: number };

export const targets: readonly Target[] = [
  { workload: 'chain', figure: 'steps/s', reach: 15_000 },
  { workload: 'chain-256', figure: 'steps/s', reach: 15_000 },
  { workload: 'lua', figure: 'steps/s', reach: 5_000 },
  { workload: 'chain-alone', figure: 'p50 ms', reach: 5 },
  { workload: 'lua-alone', figure: 'p50 ms', reach: 10 },
  { workload: 'fan-out', figure: 'p50 ms', reach: 60 },
  { workload: 'fan-out-lua', figure: 'p50 ms', reach: 200 },
  { workload: 'blocked', figure: 'heap bytes each', reach: 2_048 },
  { workload: 'blocked', figure: 'idle CPU %', reach: 1 },
  { workload: 'blocked', figure: 'ms to release all', reach: 5_000 },
  { workload: 'recovery', figure: 'ms to serving', reach: 2_000 },
  { workload: 'recovery', figure: 'ms to all advancing', reach: 10_000 },
  { workload: 'for-each', figure: 'items/s', reach: 5_000 },
  { workload: 'rest-starts', figure: 'requests/s', reach: 2_500 },
  { workload: 'rest-starts', figure: 'p99 ms', reach: 50 },
  { workload: 'rest-outputs', figure: 'p50 ms', reach: 8 },
  { workload: 'ws-fanout', figure: 'commit → frame p50 ms', reach: 3 },
  { workload: 'agents', figure: 'turns/s', reach: 1_500 },
  { workload: 'chat', figure: 'message → provider p50 ms', reach: 25 },
  { workload: 'chat', figure: 'token p50 ms', reach: 3 },
  { workload: 'chat', figure: 'reconnect p50 ms', reach: 60 },
  { workload: 'long-chain', figure: 'times as long', reach: 1.1 },
  { workload: 'large-graph', figure: 'ms to start, new graph', reach: 50 },
  { workload: 'old-runs', figure: 'times the CPU', reach: 1.1 },
  { workload: 'memory', figure: 'indexed chunks/s', reach: 1_000 },
  { workload: 'memory', figure: 'text p50 ms', reach: 20 },
  { workload: 'memory', figure: 'hybrid p50 ms', reach: 60 },
  { workload: 'memory', figure: 'text R@5 all', reach: 0.9 },
  { workload: 'memory', figure: 'hybrid R@5 paraphrase', reach: 0.9 },
  { workload: 'memory', figure: 'hybrid R@5 update', reach: 0.95 },
  { workload: 'memory', figure: 'text R@1 updates said', reach: 0.95 },
  { workload: 'memory', figure: 'text R@1 updates known', reach: 0.95 },
  { workload: 'memory', figure: 'hybrid R@1 updates said', reach: 0.95 },
  { workload: 'memory', figure: 'hybrid R@1 updates known', reach: 0.95 },
  { workload: 'memory', figure: 'stale hits', reach: 0 },
  { workload: 'memory', figure: 'foreign hits', reach: 0 },
  { workload: 'memory', figure: 'junk %', reach: 2 },
  { workload: 'memory', figure: 'duplicates %', reach: 2 },
  { workload: 'memory', figure: 'unasked %', reach: 2 },
  { workload: 'run-page', figure: 'ms until drawn', reach: 1_000 },
  { workload: 'run-page', figure: 'events: p95 ms a frame', reach: 17 },
  { workload: 'run-page', figure: 'timeline: p95 ms a frame', reach: 17 },
  { workload: 'editor-typing', figure: 'p50 ms a key', reach: 16 },
];

/** The factor by which Baton must be faster than a peer with its defaults, for the chain of ten steps with 64 in flight. */
export const ratioTargets: Readonly<Record<string, number>> = { bullmq: 2, restate: 5, dbos: 10 };

export const isRate = (figure: string): boolean => /\/s$|\bR@\d/.test(figure);

export function isReached({ figure, reach }: Target, median: number): boolean {
  return isRate(figure) ? median >= reach : median <= reach;
}
