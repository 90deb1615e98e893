import { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { CursorTime, cutPage, decodeCursor } from '../../operation/cursor.ts';
import { Id } from '../../operation/wire.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { type DeliveryRow, listDeliveries } from './delivery-store.ts';
import { DELIVERY_CHANNELS, type ListDeliveriesInput, type ListDeliveriesOutput } from './schemas.ts';

const DeliveryCursor = z.tuple([
  CursorTime,
  Id,
  z.string().regex(/^[A-Za-z0-9_.-]{0,400}$/),
  z.enum(DELIVERY_CHANNELS),
]);

/**
 * GET /v1/me/notifications/deliveries: the person's own deliveries, newest first. Throws AppError 422 (a cursor of
 * another list).
 */
export async function listMyDeliveries(
  { principal, services }: Context,
  { limit, cursor, channel }: z.output<typeof ListDeliveriesInput>,
): Promise<z.input<typeof ListDeliveriesOutput>> {
  const key = decodeCursor(DeliveryCursor, cursor);
  const after = key && { at: new Date(key[0]), runId: key[1], stepId: key[2], channel: key[3] };
  const found = await listDeliveries(services.pool, principal, { after, limit: limit + 1, channel });
  const page = cutPage(found, limit, row => [row.created_at.getTime(), row.run_id, row.step_id, row.channel]);
  return { deliveries: page.rows.map(toWire), next_cursor: page.next_cursor };
}

const timeOf = (at: Date) => isoTimestamp(at.getTime());

function toWire(row: DeliveryRow): z.input<typeof ListDeliveriesOutput>['deliveries'][number] {
  return {
    kind: row.kind,
    channel: row.channel,
    state: row.state,
    attempts: row.attempts,
    reason: row.reason,
    next_attempt_at: row.state === 'pending' ? timeOf(row.next_attempt_at) : null,
    project_id: row.project_id,
    workflow_id: row.workflow_id,
    workflow_name: row.workflow_name,
    run_id: row.run_id,
    task_id: row.step_id === '' ? null : row.step_id,
    task_name: row.task_name,
    created_at: timeOf(row.created_at),
    ended_at: row.ended_at && timeOf(row.ended_at),
  };
}
