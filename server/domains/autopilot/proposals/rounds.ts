import type { Context } from '../../../operation/context.ts';
import { AppError, conflict } from '../../../platform/errors.ts';
import { projectScope } from '../../workflows/view.ts';
import { MAX_ROUNDS } from '../schemas.ts';
import { addProposalRound, addRunRound, findRunRounds, hasAnswered, resetRunRounds } from './rounds-store.ts';
import type { ProposalRow } from './store.ts';

/** The error code for edits after too many rounds. An agent with this error has to ask a person. */
const NEEDS_INPUT = 'needs_input';

/** The number of consecutive answers with errors, and whether a person has answered since the last one. */
export type Rounds = { count: number; isAnswered: boolean };
/** The proposal that is changed or superseded; null for neither. */
type Before = Pick<ProposalRow, 'rounds'> | null;

/**
 * Returns the number of consecutive answers with errors. An agent's answers are counted per run, those of other clients per proposal.
 * Throws AppError 409 `needs_input` if the number reached the limit and no person has answered since. A person in the console answers by
 * editing, other clients send `answer`, and an agent needs a completed task.
 */
export async function roundsBefore(ctx: Context, before: Before, answer: string | undefined): Promise<Rounds> {
  const { agentCall, principal, services, surface } = ctx;
  if (agentCall === undefined) {
    const count = before?.rounds ?? 0;
    if (count < MAX_ROUNDS) return { count, isAnswered: false };
    const isPerson = principal.credential.kind === 'session' && surface !== 'mcp';
    if (!isPerson && (answer ?? '').trim() === '')
      throw needsInput('Ask the person, and send the `answer` with the edits.');
    return { count: 0, isAnswered: true };
  }
  const run = { tenantId: principal.tenantId, runId: agentCall.runId };
  const found = await findRunRounds(services.pool, run);
  // A new run of the conversation begins with a message of a person, which counts as an answer.
  if (found === null || found.rounds < MAX_ROUNDS) return { count: found?.rounds ?? 0, isAnswered: found === null };
  if (found.asked_at === null || !(await hasAnswered(services.pool, run, found.asked_at)))
    throw needsInput('Ask the person what is missing, with ask_user or in your answer. No edit is accepted before.');
  await resetRunRounds(services.pool, run, new Date(services.clock.now()));
  return { count: 0, isAnswered: true };
}

const needsInput = (what: string) =>
  conflict(NEEDS_INPUT, `${MAX_ROUNDS} answers in succession have left errors, or refused an edit. ${what}`);

/** Counts an answer. Returns the count that the proposal shows, which is 0 after an answer without errors. */
export async function countRound(ctx: Context, { count }: Rounds, isValid: boolean): Promise<number> {
  const { agentCall, principal, services } = ctx;
  if (agentCall === undefined) return isValid ? 0 : count + 1;
  const run = { tenantId: principal.tenantId, runId: agentCall.runId };
  const at = new Date(services.clock.now());
  if (!isValid) return addRunRound(services.pool, run, { max: MAX_ROUNDS, at });
  await resetRunRounds(services.pool, run, at);
  return 0;
}

/**
 * Counts an answer that refuses edits. Failures of the service are not counted. `id`: the proposal that shows the count. Returns the error
 * for the client, extended by a request to ask a person once the limit is reached.
 */
export async function countRefusal(
  ctx: Context,
  rounds: Rounds,
  { id, error }: { id: string | null; error: unknown },
): Promise<unknown> {
  if (!(error instanceof AppError) || error.status >= 500 || error.code === NEEDS_INPUT) return error;
  const { agentCall, services } = ctx;
  const at = new Date(services.clock.now());
  const count = agentCall === undefined ? rounds.count + 1 : await countRound(ctx, rounds, false);
  if (id !== null) {
    const isAnswered = rounds.isAnswered;
    await addProposalRound(services.pool, { ...projectScope(ctx), id, at }, { isAnswered, max: MAX_ROUNDS });
  }
  if (count < MAX_ROUNDS) return error;
  const { status, code, message, details } = error;
  const advice = `${message} ${MAX_ROUNDS} answers in succession have left errors or refused an edit: ask the person what is missing.`;
  return new AppError(status, code, advice, details === undefined ? {} : { details });
}

/** Counts an agent's request that was refused before its proposal was read, because it is malformed or the proposal does not exist. */
export async function countRefusedInput(ctx: Context, error: unknown): Promise<unknown> {
  if (ctx.agentCall === undefined || (error instanceof AppError && error.code === NEEDS_INPUT)) return error;
  try {
    return await countRefusal(ctx, await roundsBefore(ctx, null, undefined), { id: null, error });
  } catch (needed) {
    return needed;
  }
}
