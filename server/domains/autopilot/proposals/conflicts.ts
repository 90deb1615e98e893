import { AppError, type ErrorDetail } from '../../../platform/errors.ts';
import type { Conflict } from '../../workflows/edits/index.ts';

/** The maximum number of characters that a message shows of each side. */
const MAX_SHOWN = 500;
/** The maximum number of conflicts that a response lists. */
export const MAX_CONFLICTS = 200;

/** Returns the error 409 `proposal_conflict`, whose details show the values of both sides. */
export function proposalConflict(conflicts: readonly Conflict[], sides: { ours: string; theirs: string }): AppError {
  const details = conflicts.map(
    (conflict): ErrorDetail => ({
      path: pathOf(conflict),
      code: 'proposal_conflict',
      message: `${sides.ours}: ${showValue(conflict.ours)}; ${sides.theirs}: ${showValue(conflict.theirs)}`,
      ...(conflict.step !== null && { step_id: conflict.step }),
    }),
  );
  const message = 'The draft has changed in the same places since. Nothing was written.';
  return new AppError(409, 'proposal_conflict', message, { details });
}

const pathOf = ({ step, field }: Conflict): string =>
  step === null ? (field ?? '') : `steps.${step}${field === null ? '' : `.${field}`}`;

function showValue(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
