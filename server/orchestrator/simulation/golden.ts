import { formatGolden, type Golden, summary } from '../../testing/engine/golden.ts';
import { compile, evolve, newRun } from '../core/index.ts';
import type { AuditedRun } from './auditor.ts';
import { simulate } from './simulate.ts';

/**
 * node server/orchestrator/simulation/golden.ts <seed> <run> [<events>] > server/orchestrator/core/golden/<name>.ndjson
 * Prints the log of a simulated run, or only its first events, as a golden log (docs/adr/0005).
 */
const [seed, runId, most] = process.argv.slice(2);
let found: AuditedRun | undefined;
await simulate(Number(seed), {
  inspect: runs => {
    found = runs.find(({ id }) => id === runId);
  },
});
if (found === undefined) throw new Error(`seed ${seed} has no ${runId}`);
const { graph } = found.history;
const events = found.history.events.slice(0, most === undefined ? undefined : Number(most));
const state = newRun('run', compile(graph));
const expected: Golden['expected'] = [];
const cuts = [1, 2, 3, 4].map(quarter => Math.ceil((events.length * quarter) / 4));
for (const event of events) {
  evolve(state, event);
  if (cuts.includes(state.seq)) expected.push({ seq: state.seq, state: summary(state) });
}
process.stdout.write(formatGolden({ graph, events, expected }));
