import { printable } from '../printable.ts';

/** `skipped`: it cannot be seen from here, which is no fault. */
export type State = 'ok' | 'warning' | 'problem' | 'skipped';

/** One line of the doctor. `advice`: what to do about it. `facts`: for programs. */
export type Finding = { check: string; state: State; text: string; advice?: string; facts?: unknown };

/** The findings of a check, with a fact that the checks after it need. */
export type Learned<T> = { findings: Finding[]; learned: T };

export const ok = (check: string, text: string, facts?: unknown): Finding => ({ check, state: 'ok', text, facts });
export const skipped = (check: string, text: string): Finding => ({ check, state: 'skipped', text });
export const warning = (check: string, text: string, advice: string, facts?: unknown): Finding => ({
  check,
  state: 'warning',
  text,
  advice,
  facts,
});
export const problem = (check: string, text: string, advice: string, facts?: unknown): Finding => ({
  check,
  state: 'problem',
  text,
  advice,
  facts,
});

/** Applies `clean` to every text in a value, and to the names of its fields. */
export function cleanAll(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map(item => cleanAll(item, clean));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) =>
      field === undefined ? [] : [[clean(name), cleanAll(field, clean)]],
    ),
  );
}

export type Report = { ok: boolean; problems: number; warnings: number; checks: Finding[] };

/** Returns the findings without secrets and control characters; `redact` removes the secrets from a text. */
export function toReport(findings: readonly Finding[], redact: (text: string) => string): Report {
  const checks = cleanAll(findings, text => printable(redact(text))) as Finding[];
  const problems = checks.filter(({ state }) => state === 'problem').length;
  const warnings = checks.filter(({ state }) => state === 'warning').length;
  return { ok: problems === 0, problems, warnings, checks };
}

const MARKS: Readonly<Record<State, string>> = { ok: 'ok', warning: 'warning', problem: 'PROBLEM', skipped: '-' };
const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Returns the report for a person: a line for each finding, and one with what to do. */
export function describeReport({ checks, problems, warnings }: Report): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const lines = checks.flatMap(({ check, state, text, advice }) => [
    `${MARKS[state].padEnd(7)}  ${check.padEnd(width)}  ${text}`,
    ...(advice === undefined ? [] : [`${' '.repeat(11 + width)}→ ${advice}`]),
  ]);
  const sum = [problems, warnings].some(count => count > 0)
    ? `${plural(problems, 'problem')}, ${plural(warnings, 'warning')} (docs/doctor.md).`
    : 'All is well.';
  return [...lines, '', sum].join('\n');
}
