import { AppError, conflict, unavailable } from '../../../../platform/errors.ts';
import { INSUFFICIENT_CREDITS } from '../../../core/index.ts';

/** Refuses a start when its workspace cannot pay for one step. */
export const insufficientCredits = (): AppError =>
  new AppError(422, INSUFFICIENT_CREDITS, 'The workspace has too few credits left to run a step.');

export const runIdTaken = (): AppError => conflict('run_id_taken', 'A run with this id already exists.');

/** The run left memory between the call and its turn. */
export const beingLoaded = (): AppError => unavailable('unavailable', 'The run is being loaded again.', 1);

/** The error of a step that its workspace cannot pay for. */
export const TOO_FEW_CREDITS = {
  code: INSUFFICIENT_CREDITS,
  message: 'The workspace has too few credits left to start this step.',
};
