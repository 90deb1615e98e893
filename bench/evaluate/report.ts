import type { Attempt } from './attempt.ts';

export type Evaluated = { goal: string; attempts: readonly Attempt[] };

export type Figures = {
  goal: string;
  attempts: number;
  passed: number;
  /** Whether at least one attempt has passed, and whether all have. */
  any: boolean;
  all: boolean;
  /** Averages per attempt: tokens, credits and turns. */
  tokens: number;
  credits: number;
  turns: number;
  problems: string[];
};

const passes = ({ problems }: Attempt): boolean => problems.length === 0;

export function figuresOf({ goal, attempts }: Evaluated): Figures {
  const mean = (measureOf: (attempt: Attempt) => number) =>
    attempts.reduce((sum, attempt) => sum + measureOf(attempt), 0) / Math.max(1, attempts.length);
  return {
    goal,
    attempts: attempts.length,
    passed: attempts.filter(passes).length,
    any: attempts.some(passes),
    all: attempts.every(passes),
    tokens: Math.round(mean(({ inputTokens, outputTokens }) => inputTokens + outputTokens)),
    credits: mean(({ credits }) => credits),
    turns: mean(({ turns }) => turns),
    problems: [...new Set(attempts.flatMap(({ problems }) => problems))],
  };
}

/** Returns a table of all goals, with the shares of the goals that passed at least once (pass@k) and always (pass^k). */
export function markdownOf(figures: readonly Figures[]): string {
  const k = Math.max(0, ...figures.map(({ attempts }) => attempts));
  const part = (predicate: (each: Figures) => boolean) => `${figures.filter(predicate).length} of ${figures.length}`;
  const rows = figures.map(
    ({ goal, passed, attempts, tokens, credits, turns, problems }) =>
      `| ${goal} | ${passed}/${attempts} | ${tokens} | ${credits.toFixed(2)} | ${turns.toFixed(1)} | ${problems.join('; ').replaceAll('|', '\\|')} |`,
  );
  return [
    '| goal | passed | tokens | credits | turns | problems |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    `pass@${k}: ${part(({ any }) => any)}; pass^${k}: ${part(({ all }) => all)}.`,
  ].join('\n');
}
