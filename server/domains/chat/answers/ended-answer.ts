import type { Services } from '../../../operation/services.ts';
import { type AnswerError, type EndedAnswer, saveAnswer } from '../messages/store.ts';
import { AnswerFrames } from '../stream/frames.ts';
import { type MessagePart, MessageParts } from '../stream/parts.ts';
import { readAnswerEvents } from './read-events.ts';
import type { EndedRun } from './store.ts';
import { UsageOfAnswer } from './usage.ts';

export type AnswerServices = Pick<Services, 'pool'>;

/** Returns the parts and the usage of an answer from the log of its run. */
export async function readAnswerOf(
  services: AnswerServices,
  { tenantId, runId }: { tenantId: string; runId: string },
): Promise<{ parts: MessagePart[]; usage: UsageOfAnswer }> {
  const usage = new UsageOfAnswer();
  const frames = new AnswerFrames({ runId });
  const message = new MessageParts();
  for await (const event of readAnswerEvents(services, { tenantId, runId })) {
    usage.add(event);
    for (const { chunk } of frames.event(event)) message.add(chunk);
  }
  return { parts: message.parts, usage };
}

const RUN_PURGED: AnswerError = { code: 'run_purged', message: 'The run of this answer is not kept any more.' };

/** Saves the answer of an ended run with its thread, because logs may be purged earlier than threads. */
export async function saveEndedAnswer(services: AnswerServices, run: EndedRun): Promise<void> {
  const { tenantId, threadId, runId } = run;
  await saveAnswer(services.pool, { tenantId, threadId, runId }, await endedAnswer(services, run));
}

async function endedAnswer(services: AnswerServices, run: EndedRun): Promise<EndedAnswer> {
  const { status, error } = run;
  if (status === null) return { status: 'failed', parts: [], usage: null, error: RUN_PURGED };
  const { parts, usage } = await readAnswerOf(services, run);
  return {
    status,
    parts,
    usage: usage.total(run.microcredits),
    error: error && { code: error.code, message: error.message },
  };
}
