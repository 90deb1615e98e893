import { AppError, conflict } from '../../../platform/errors.ts';

/** The one answer for a code that is unknown, used up, over, not yet valid, disabled, or not for this: nothing tells them apart. */
export const codeNotValid = (): AppError => new AppError(422, 'code_not_valid', 'This code is not valid.');

/** Only of what this very workspace has done itself, and whatever has become of the code since. */
export const codeAlreadyUsed = (): AppError =>
  conflict('code_already_used', 'Your workspace has used this code already.');
