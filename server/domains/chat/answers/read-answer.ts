import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { addedId } from '../../../orchestrator/core/index.ts';
import { unavailable } from '../../../platform/errors.ts';
import { requireRun } from '../../runs/access/find.ts';
import { isTerminal } from '../../runs/reading/run-state.ts';
import { runEndsOf } from '../../runs/waiting/run-ends.ts';
import type { ReadAnswerInput, ReadAnswerOutput } from '../schemas.ts';
import { type AnswerEvent, AnswerFrames } from '../stream/frames.ts';
import { MessageParts, textOf } from '../stream/parts.ts';
import { readAnswerEvents } from './read-events.ts';

type Input = z.output<typeof ReadAnswerInput>;
type Output = z.input<typeof ReadAnswerOutput>;

/**
 * GET /v1/workflows/{id}/runs/{runID}/answer: the text after `after` that the agents of a run have written so far. With `wait_s`, waits for
 * more text of an active run. Throws AppError 403 `private_run`, 404, 429 `too_many_waiting`, 503 `not_leading`.
 */
export async function readAnswer(ctx: Context, input: Input): Promise<Output> {
  const answer = await readNow(ctx, input);
  if (input.wait_s === 0 || isTerminal(answer.status) || answer.length - input.after >= input.max_chars) return answer;
  const release = runEndsOf(ctx.services).reserve(ctx.principal.tenantId);
  try {
    await awaitMore(ctx, input);
  } finally {
    release();
  }
  // The caller may have lost the rights while waiting, so they are checked again.
  return readNow(ctx, input);
}

async function readNow(ctx: Context, input: Input): Promise<Output> {
  const { services, principal } = ctx;
  const { id, runID: runId, after, max_chars, step_id } = input;
  const run = await requireRun(ctx, { id, runID: runId });
  // Only the leader has the text that is being written.
  if (!isTerminal(run.status) && !services.orchestrator.leads(principal.tenantId))
    throw unavailable('not_leading', 'This server is not executing runs at the moment.');
  const frames = new AnswerFrames({ runId });
  const message = new MessageParts();
  // Reading the live text before the log misses no text. AnswerFrames ignores live text that the log has by then.
  const { written, unfollow } = services.liveText.follow(runId, () => undefined);
  unfollow();
  const isAsked = ({ step_id: step }: Pick<AnswerEvent, 'step_id'>) =>
    step_id === undefined || step === undefined || step === step_id || addedId(step)?.parent === step_id;
  for await (const event of readAnswerEvents(services, { tenantId: principal.tenantId, runId }))
    if (isAsked(event)) for (const { chunk } of frames.event(event)) message.add(chunk);
  for (const piece of written)
    if (isAsked({ step_id: piece.step })) for (const { chunk } of frames.piece(piece)) message.add(chunk);
  const whole = textOf(message.parts);
  const text = slicePart(whole, after, max_chars);
  const next = Math.min(after, whole.length) + text.length;
  const isComplete = isTerminal(run.status) && next >= whole.length;
  return {
    run_id: runId,
    status: run.status,
    orchestration_phase: run.orchestration_phase,
    text,
    next,
    length: whole.length,
    is_complete: isComplete,
  };
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;

/** Returns at most `most` UTF-16 units from `after` on, without cutting a surrogate pair. */
function slicePart(text: string, after: number, maxLength: number): string {
  const part = text.slice(after, after + maxLength);
  return isHighSurrogate(part.charCodeAt(part.length - 1)) ? part.slice(0, -1) : part;
}

/** Resolves at the end of `wait_s`, when the client disconnects, at the next event of the run, or after `max_chars` of new text. */
async function awaitMore({ services, principal, onDisconnect }: Context, input: Input): Promise<void> {
  const { id: workflowId, runID: runId, wait_s, max_chars } = input;
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = max_chars;
  const unsubscribe = services.orchestrator.subscribe(
    { tenantId: principal.tenantId, workflowId, runId },
    () => resolve(),
    () => resolve(),
  );
  const { unfollow } = services.liveText.follow(runId, piece => {
    left -= piece.type === 'text' ? piece.text.length : 0;
    if (left <= 0) resolve();
  });
  const timer = setTimeout(resolve, wait_s * 1000);
  const forget = onDisconnect?.(() => resolve());
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    forget?.();
    unfollow();
    unsubscribe();
  }
}
