import { AppError, conflict } from '../../../platform/errors.ts';

/**
 * Returns the refusal of a code that is unknown, used up, expired, not yet valid, disabled, or not for this purpose: always the
 * same.
 */
export const codeNotValid = (): AppError => new AppError(422, 'code_not_valid', 'This code is not valid.');

/** Returns the refusal of a code that this workspace has already used, regardless of the code's present state. */
export const codeAlreadyUsed = (): AppError =>
  conflict('code_already_used', 'Your workspace has already used this code.');

/**
 * Returns the refusal of a code that extends a trial. The code is not redeemed, and can be applied once a trial has started.
 */
export const noRunningTrial = (): AppError =>
  conflict(
    'no_running_trial',
    'This code extends a trial, and no trial is running: start the trial first, then apply it.',
  );

/** Returns the refusal of a second discount, because a subscription has only one at a time. The code is not redeemed. */
export const discountPresent = (): AppError =>
  conflict('discount_present', 'Your workspace already has a discount: this code can be applied when that ends.');
