import { AppError, conflict, unavailable } from '../../../platform/errors.ts';
import { INSUFFICIENT_CREDITS } from '../../core/index.ts';

/** Refuses a start when its workspace cannot pay for one step. */
export const insufficientCredits = (): AppError =>
  new AppError(422, INSUFFICIENT_CREDITS, 'The workspace has too few credits left to run a step.');

export const runIdTaken = (): AppError => conflict('run_id_taken', 'A run with this id already exists.');

/** The run left memory between the call and its turn. */
export const beingLoaded = (): AppError => unavailable('unavailable', 'The run is being loaded again.', 1);

/** Refuses a command for a workspace that this process does not lead, or hands over. */
export const movedElsewhere = (): AppError =>
  unavailable('not_leading', 'Another node of the service executes the runs of this workspace.', 1);

/** Refuses a command of a workspace whose share of the log is used up. */
export const tooManyWrites = (): AppError =>
  new AppError(429, 'too_many_writes', 'The workspace has too many events that wait to be written.', {
    headers: { 'Retry-After': '1' },
  });

/** The error of a step that its workspace cannot pay for. */
export const TOO_FEW_CREDITS = {
  code: INSUFFICIENT_CREDITS,
  message: 'The workspace has too few credits left to start this step.',
};
