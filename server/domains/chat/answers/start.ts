import type { Services } from '../../../operation/services.ts';
import { type Scope, scopes } from '../../../orchestrator/ports/authority.ts';
import { AppError } from '../../../platform/errors.ts';
import { findRights } from '../../agents/authority-queries.ts';
import { effectiveRole } from '../../identity/principal.ts';
import { startRun } from '../../runs/start/start.ts';
import { CHAT_TRIGGER } from '../../runs/triggers/chat.ts';
import { outsideOfMessage, textForAgent } from '../messages/context-text.ts';
import { markRunning } from '../messages/store.ts';
import type { QueuedAnswer } from './store.ts';

/** The sender of a message. The run that answers it starts with the sender's current rights. */
export type Sender = { email: string; carried: readonly Scope[] };

/**
 * Starts the run of an answer under the id of the answer, so that it starts once: a run that has started already is no error. Stops the run
 * if the answer was withdrawn meanwhile. Throws the other errors of `startRun`.
 */
export async function startAnswer(services: Services, answer: QueuedAnswer, sender: Sender): Promise<void> {
  const { tenantId, projectId, threadId, workflowId, runId, parts, sentBy, patId } = answer;
  try {
    await startRun(services, {
      tenantId,
      projectId,
      workflowId,
      params: { trigger_payload: { message: textForAgent(parts) }, session_id: threadId },
      defaultTriggerType: CHAT_TRIGGER,
      outsideInput: outsideOfMessage(parts),
      privateInput: outsideOfMessage(parts),
      startedBy: sender.email,
      carried: [sender.carried],
      actsFor: { user_id: sentBy, pat_id: patId },
      spending: { spends_for: sentBy },
      runId,
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'run_id_taken') throw error;
  }
  if (await markRunning(services.pool, { tenantId, threadId, runId })) return;
  await stopRun(services, { tenantId, projectId, workflowId, runId }, sender.email);
}

/** Records a refused start, which ends the streams that wait for this answer. Failures are logged and otherwise ignored. */
export async function tellRefused(
  { orchestrator, clock, logger }: Services,
  { tenantId, projectId, workflowId, runId }: RunPlace,
  { code, message }: { code: string; message: string },
): Promise<void> {
  try {
    await orchestrator.reject({ tenantId, projectId, workflowId, runId, at: clock.now(), code, message });
  } catch (error) {
    logger.warn({ err: error, run_id: runId }, 'a refused answer could not be announced to its streams');
  }
}

type RunPlace = { tenantId: string; projectId: string; workflowId: string; runId: string };

/** Stops a run immediately. Returns false if the run has ended or does not exist. */
export async function stopRun({ orchestrator }: Services, run: RunPlace, by: string): Promise<boolean> {
  try {
    await orchestrator.command(run, { type: 'stop', mode: 'immediate', by });
    return true;
  } catch (error) {
    if (error instanceof AppError && (error.status === 404 || error.status === 409)) return false;
    throw error;
  }
}

/**
 * Returns the current rights of the sender of a queued message. Throws AppError 403 `authority_lost` if the person has left the project, or
 * the token was revoked or has expired.
 */
export async function senderOf({ pool, clock }: Services, answer: QueuedAnswer): Promise<Sender> {
  const { tenantId, projectId, sentBy, patId } = answer;
  const rights = await findRights(pool, { tenantId, projectId }, { user_id: sentBy, pat_id: patId });
  const isMember = rights !== null && effectiveRole(rights.tenant_admin, rights.role) !== null;
  const hasToken =
    patId === null || (rights?.scopes != null && (rights.expires_at?.getTime() ?? Infinity) > clock.now());
  if (!isMember || !hasToken)
    throw new AppError(403, 'authority_lost', 'The sender of the message may no longer use chat in this project.');
  const carried = patId === null ? scopes : (rights.scopes as Scope[]);
  if (!carried.includes('ai:use'))
    throw new AppError(403, 'authority_lost', 'The token that sent the message may no longer use chat.');
  return { email: rights.email, carried };
}
