import { CREDIT, MOST_MICROCREDITS } from '../../contract/microcredits.ts';
import type { Services } from '../../contract/services.ts';
import type { AppError } from '../../platform/errors.ts';

/** What the operator's commands reach; a server that runs beside them notices within seconds. */
export type CommandServices = Pick<
  Services,
  'pool' | 'clock' | 'config' | 'logger' | 'orchestrator' | 'payments' | 'topUp'
>;

/** What a command prints, and the process's exit code. */
export type CommandOutcome = { code: 0 | 1; text: string };

/** A command with its own arguments. TypeError for arguments that it does not know, AppError for what cannot be done. */
export type Command = (services: CommandServices, args: readonly string[], by: string) => Promise<CommandOutcome>;

export const done = (text: string): CommandOutcome => ({ code: 0, text });

/** Lines of a table, the columns as wide as they must be. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)));
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** An argument that must be there. */
export function required(value: string | undefined, what: string): string {
  if (value === undefined || value === '') throw new TypeError(`${what} is missing.`);
  return value;
}

/** `12.5` credits as microcredits: at most six digits behind the point, so nothing is rounded. */
export function parseCredits(text: string): number {
  const parts = /^(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text);
  const microcredits = parts === null ? 0 : Number(parts[1]) * CREDIT + Number((parts[2] ?? '').padEnd(6, '0'));
  if (microcredits < 1 || microcredits > MOST_MICROCREDITS)
    throw new TypeError(`"${text}" is not an amount of credits such as 250 or 0.5.`);
  return microcredits;
}

/** Microcredits for people. */
export const credits = (microcredits: number): string =>
  (microcredits / CREDIT).toLocaleString('en', { maximumFractionDigits: 6 });

/** What was refused, with its details, for a terminal. */
export const describeRefusal = (error: AppError): string =>
  [error.message, ...(error.details ?? []).map(({ path, message }) => `  ${path}: ${message}`)].join('\n');
