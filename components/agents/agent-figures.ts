type Run = { status: string; credits_microcredits: number; ended_at: string | null };

/** What the last runs of an agent say about it; null where none of them says anything. */
export function figuresOf(runs: readonly Run[]): { successRate: number | null; creditsPerRun: number | null } {
  const judged = runs.filter(({ status }) => status === 'completed' || status === 'failed');
  const ended = runs.filter(({ ended_at }) => ended_at !== null);
  const spent = ended.reduce((sum, run) => sum + run.credits_microcredits, 0);
  return {
    successRate: judged.length === 0 ? null : judged.filter(run => run.status === 'completed').length / judged.length,
    creditsPerRun: ended.length === 0 ? null : Math.round(spent / ended.length),
  };
}
