import type { Services } from '../../../operation/services.ts';
import type { StreamItem } from '../../../orchestrator/ports/orchestrator.ts';
import { ALL_SHARDS, type Shards } from '../../../orchestrator/shards/slot.ts';
import { AppError } from '../../../platform/errors.ts';
import { isDatabaseAway } from '../../../platform/postgres/away.ts';
import { endsRun } from '../../runs/events/selection.ts';
import { requireBudget } from '../budget.ts';
import { markRefused } from '../messages/store.ts';
import { saveEndedAnswer } from './ended-answer.ts';
import { type Sender, senderOf, startAnswer, tellRefused } from './start.ts';
import { listEnded, listStartable, type QueuedAnswer } from './store.ts';

/** The maximum number of answers in one pass, so that many chats do not delay other starts. */
const MAX_ANSWERS_PER_PASS = 20;

/**
 * Saves ended answers and starts queued ones, of one thread or of all, in the workspaces of the shards that this process
 * leads. Returns how many it processed. Throws while the database is
 * unavailable or this process does not lead. A later pass then processes the rest.
 */
export async function processAnswers(
  services: Services,
  threadId: string | null = null,
  shards: Shards = ALL_SHARDS,
): Promise<number> {
  const selection = { threadId, shards, limit: MAX_ANSWERS_PER_PASS };
  const ended = await listEnded(services.pool, selection);
  for (const run of ended) await saveEndedAnswer(services, run);
  const startable = await listStartable(services.pool, selection);
  let started = 0;
  for (const answer of startable) if (await startQueued(services, answer)) started += 1;
  return ended.length + started;
}

/** Starts a queued answer. Returns false if the start has to be retried later. */
async function startQueued(services: Services, answer: QueuedAnswer): Promise<boolean> {
  try {
    const sender = await senderOf(services, answer);
    await requireBudget(services, { tenantId: answer.tenantId, userId: answer.sentBy });
    await startAndFollow(services, answer, sender);
    return true;
  } catch (error) {
    if (isDatabaseAway(error) || !(error instanceof AppError)) throw error;
    if (isTemporary(error)) return false;
    const { code, message } = error;
    await markRefused(services.pool, { ...answer, error: { code, message } });
    await tellRefused(services, answer, { code, message });
    return true;
  }
}

/** Returns whether a retry may succeed: after an error of the server, or too many active runs. */
const isTemporary = ({ status }: AppError): boolean => status >= 500 || status === 429;

const pendingFollowUps = new WeakMap<Services['orchestrator'], Set<Promise<void>>>();

/**
 * Starts an answer as `startAnswer` does. Once its run has ended, saves the answer and starts the next one of the thread. If this process
 * dies, the job does that.
 */
export async function startAndFollow(services: Services, answer: QueuedAnswer, sender: Sender): Promise<void> {
  const started = Promise.withResolvers<void>();
  // The run may end before its start is acknowledged, so watching begins first.
  const unwatch = watchAnswer(services, answer, started.promise);
  try {
    await startAnswer(services, answer, sender);
  } catch (error) {
    unwatch();
    throw error;
  } finally {
    started.resolve();
  }
}

/** Processes the thread once the run of the answer has ended. `started`: resolves when the thread has the status of the start. */
function watchAnswer(
  services: Services,
  { tenantId, workflowId, runId, threadId }: QueuedAnswer,
  started: Promise<void>,
): () => void {
  const { orchestrator, logger } = services;
  const pending = pendingFollowUps.get(orchestrator) ?? new Set<Promise<void>>();
  pendingFollowUps.set(orchestrator, pending);
  const next = async () => {
    await started;
    try {
      await processAnswers(services, threadId);
    } catch (error) {
      logger.warn({ err: error, run_id: runId }, 'the job will process the end of this answer');
    }
  };
  const unsubscribe = orchestrator.subscribe({ tenantId, workflowId, runId }, onItems, () => unsubscribe());
  function onItems(items: StreamItem[]): void {
    if (!items.some(endsRun)) return;
    unsubscribe();
    const work = next().finally(() => pending.delete(work));
    pending.add(work);
  }
  return unsubscribe;
}

/** Waits until all ended answers are processed. */
export async function awaitPendingAnswers({ orchestrator }: Pick<Services, 'orchestrator'>): Promise<void> {
  const pending = pendingFollowUps.get(orchestrator);
  while (pending !== undefined && pending.size > 0) await Promise.all(pending);
}
