import type { Services } from '../../../operation/services.ts';
import type { StreamItem } from '../../../orchestrator/ports/orchestrator.ts';
import { AppError } from '../../../platform/errors.ts';
import { isDatabaseAway } from '../../../platform/postgres/away.ts';
import { endsRun } from '../../runs/events/selection.ts';
import { requireBudget } from '../budget.ts';
import { markRefused } from '../messages/store.ts';
import { settleAnswer } from './settle.ts';
import { type Sender, senderOf, startAnswer, tellRefused } from './start.ts';
import { listEnded, listStartable, type QueuedAnswer } from './store.ts';

/** The number of answers at a time, so that many chats do not crowd out the starts of requests. */
const LIMIT = 20;

/**
 * Keeps what ended answers say, and starts those that wait: of one thread, or of all. Returns how many there were. Throws while the
 * database is away or this process does not lead; then nothing is lost.
 */
export async function proceed(services: Services, threadId: string | null = null): Promise<number> {
  const ended = await listEnded(services.pool, { threadId, limit: LIMIT });
  for (const run of ended) await settleAnswer(services, run);
  const startable = await listStartable(services.pool, { threadId, limit: LIMIT });
  let started = 0;
  for (const answer of startable) if (await startQueued(services, answer)) started += 1;
  return ended.length + started;
}

/** Returns false for a start that is to be attempted again later. */
async function startQueued(services: Services, answer: QueuedAnswer): Promise<boolean> {
  try {
    const sender = await senderOf(services, answer);
    await requireBudget(services, { tenantId: answer.tenantId, userId: answer.sentBy });
    await startWatched(services, answer, sender);
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

/** Errors of the server, and too many active runs, may be over the next time. */
const isTemporary = ({ status }: AppError): boolean => status >= 500 || status === 429;

const underWay = new WeakMap<Services['orchestrator'], Set<Promise<void>>>();

/**
 * Starts an answer as `startAnswer` does. Once its run has ended, keeps what it says and starts the thread's next answer; the job
 * does that if this process dies.
 */
export async function startWatched(services: Services, answer: QueuedAnswer, sender: Sender): Promise<void> {
  const started = Promise.withResolvers<void>();
  // First: a run may end before its start is acknowledged.
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

/** `started`: until then the thread does not know that the answer runs, so its end could not be found. */
function watchAnswer(
  services: Services,
  { tenantId, workflowId, runId, threadId }: QueuedAnswer,
  started: Promise<void>,
): () => void {
  const { orchestrator, logger } = services;
  const pending = underWay.get(orchestrator) ?? new Set<Promise<void>>();
  underWay.set(orchestrator, pending);
  const next = async () => {
    await started;
    try {
      await proceed(services, threadId);
    } catch (error) {
      logger.warn({ err: error, run_id: runId }, 'the end of an answer is handled later');
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

/** Waits for what follows answers that have ended. */
export async function settleChats({ orchestrator }: Pick<Services, 'orchestrator'>): Promise<void> {
  const pending = underWay.get(orchestrator);
  while (pending !== undefined && pending.size > 0) await Promise.all(pending);
}
