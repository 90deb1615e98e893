type Run = { status: string; credits_microcredits: number; ended_at: string | null };

/** Returns the success rate and mean cost (microcredits) of an agent's last runs, each null if no run counts. */
export function figuresOf(runs: readonly Run[]): { successRate: number | null; creditsPerRun: number | null } {
  const judged = runs.filter(({ status }) => status === 'completed' || status === 'failed');
  const ended = runs.filter(({ ended_at }) => ended_at !== null);
  const spent = ended.reduce((sum, run) => sum + run.credits_microcredits, 0);
  return {
    successRate: judged.length === 0 ? null : judged.filter(run => run.status === 'completed').length / judged.length,
    creditsPerRun: ended.length === 0 ? null : Math.round(spent / ended.length),
  };
}

type TimedRun = Run & { started_at: string };
export type Spread = { median: number; most: number };

/** Returns the durations in ms and the costs of an agent's ended runs, as a guide to its limits; null if no run has ended. */
export function spreadOf(runs: readonly TimedRun[]): { runs: number; ms: Spread; microcredits: Spread } | null {
  const ended = runs.flatMap(({ started_at, ended_at, credits_microcredits }) =>
    ended_at === null ? [] : [{ ms: Date.parse(ended_at) - Date.parse(started_at), credits: credits_microcredits }],
  );
  if (ended.length === 0) return null;
  return {
    runs: ended.length,
    ms: spread(ended.map(({ ms }) => ms)),
    microcredits: spread(ended.map(({ credits }) => credits)),
  };
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0, most: sorted.at(-1) ?? 0 };
}
