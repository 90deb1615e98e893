import type { Services } from '../../../operation/services.ts';
import { agentStepType, type JsonMap } from '../../../orchestrator/core/index.ts';
import { readEvents, readPayload, toWireEvent } from '../../../orchestrator/log/index.ts';
import type { CommittedEvent, StreamItem } from '../../../orchestrator/ports/orchestrator.ts';
import { isObject } from '../../../platform/json.ts';
import type { AnswerEvent } from '../stream/frames.ts';

const PAGE = 200;

/** Reads the logged events of a run. Externally stored results of turns and approvals are inserted. */
export async function* readAnswerEvents(
  { pool }: Pick<Services, 'pool'>,
  { tenantId, runId }: { tenantId: string; runId: string },
): AsyncGenerator<AnswerEvent, void> {
  let after = 0;
  for (;;) {
    const page = await readEvents(pool, { tenantId, runId, after, limit: PAGE });
    for (const event of page) yield await answerEventOf({ pool }, event);
    after = page.at(-1)?.seq ?? after;
    if (page.length < PAGE) return;
  }
}

/** Converts an item of a stream to the event that `AnswerFrames` reads. */
export function answerEventOfItem(
  services: Pick<Services, 'pool'>,
  { kind, item }: StreamItem,
): AnswerEvent | Promise<AnswerEvent> {
  if (kind === 'event') return answerEventOf(services, item);
  return { seq: 1, event_type: 'run_rejected', data: { code: item.code, message: item.message } };
}

function answerEventOf(
  services: Pick<Services, 'pool'>,
  committed: CommittedEvent,
): AnswerEvent | Promise<AnswerEvent> {
  const { seq, event_type, step_id, attempt, data } = toWireEvent(committed);
  const event = { seq, event_type, step_id, attempt, data };
  const payloadId = payloadOf(data);
  const type = step_id === undefined ? null : agentStepType(step_id);
  if (payloadId === null || (type !== 'agent_turn' && type !== 'agent_approval')) return event;
  return withResult(services, committed, event, payloadId);
}

function payloadOf({ result_ref: ref }: JsonMap): string | null {
  return isObject(ref) && typeof ref.payload_id === 'string' ? ref.payload_id : null;
}

async function withResult(
  { pool }: Pick<Services, 'pool'>,
  { tenantId, runId }: CommittedEvent,
  event: AnswerEvent,
  payloadId: string,
): Promise<AnswerEvent> {
  const result = await readPayload(pool, { tenantId, runId, payloadId });
  return { ...event, data: { ...event.data, result: result ?? null } };
}
