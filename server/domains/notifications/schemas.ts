import { z } from 'zod';
import { Id, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';

/** The events that people are notified of. */
const NOTIFICATION_KINDS = ['task_waiting', 'run_failed'] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** The channels by which the service sends. */
const SENDING_CHANNELS = ['email', 'webhook'] as const;
/** All channels: the console shows those of `browser` while one of its tabs is open. */
export const DELIVERY_CHANNELS = ['browser', ...SENDING_CHANNELS] as const;
export type DeliveryChannel = (typeof DELIVERY_CHANNELS)[number];

/** The longest address of a webhook, in characters. */
const MAX_URL_LENGTH = 2_000;

const Kinds = z.array(z.enum(NOTIFICATION_KINDS)).max(NOTIFICATION_KINDS.length);

export const NotificationPreferences = z.strictObject({
  /** The kinds that each channel delivers. */
  browser: Kinds,
  email: Kinds,
  webhook: Kinds,
  /** Null if this deployment sends no mail. */
  email_address: z.strictObject({ address: z.string(), confirmed: z.boolean() }).nullable(),
  /**
   * Scheme and host of the webhook; null if none is set up. The rest of the address is never
   * shown, since it may be secret.
   */
  webhook_origin: z.string().nullable(),
});

export const PatchPreferencesInput = z.strictObject({
  browser: Kinds.optional().meta({ description: 'Shown by the console while one of its tabs is open' }),
  email: Kinds.optional().meta({ description: 'Needs a confirmed address' }),
  webhook: Kinds.optional().meta({ description: 'Needs a webhook_url' }),
  webhook_url: PlainText(MAX_URL_LENGTH)
    .trim()
    .nullable()
    .optional()
    .meta({ description: 'An https address, such as an incoming webhook of Slack; null removes it' }),
  rotate_webhook_secret: z.boolean().optional().meta({ description: 'Answer with a new webhook_secret, once' }),
});
export const PatchPreferencesOutput = NotificationPreferences.extend({
  /** Shown once: after a new address and after a rotation. */
  webhook_secret: z.string().optional(),
});

export const TestChannelInput = z.strictObject({ channel: z.enum(SENDING_CHANNELS) });
export const TestChannelOutput = z.strictObject({
  delivered: z.boolean(),
  /** Why the test was not delivered. */
  reason: z.string().nullable(),
});

const NotificationDelivery = z.strictObject({
  kind: z.enum(NOTIFICATION_KINDS),
  channel: z.enum(DELIVERY_CHANNELS),
  /**
   * `skipped`: it was no longer worth sending, such as a task that someone had answered. Those
   * of browsers are `delivered`.
   */
  state: z.enum(['pending', 'delivered', 'failed', 'skipped']),
  attempts: z.number().int(),
  /** Why the last attempt failed, or why there was none. */
  reason: z.string().nullable(),
  /** Null unless it is pending. */
  next_attempt_at: Timestamp.nullable(),
  project_id: Id,
  workflow_id: Id,
  workflow_name: z.string().nullable(),
  run_id: Id,
  /** Null for a failed run. */
  task_id: z.string().nullable(),
  task_name: z.string().nullable(),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
export const ListDeliveriesInput = z.strictObject({ ...page, channel: z.enum(DELIVERY_CHANNELS).optional() });
export const ListDeliveriesOutput = z.strictObject({ deliveries: z.array(NotificationDelivery), ...nextCursor });
