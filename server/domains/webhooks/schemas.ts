import { z } from 'zod';
import { AnyObject, Id, NameText, nextCursor, page, Timestamp } from '../../operation/wire.ts';
import { JsonValueSchema } from '../../platform/zod-json.ts';
import { RunResult } from '../runs/waiting/schemas.ts';
import { PRESET_NAMES } from './presets/catalog.ts';

/** The largest body of a delivery in bytes (docs/specification/limits.md#sizes). */
export const MAX_DELIVERY_BYTES = 256 * 1024;
/**
 * The time in seconds for which the previous secret is accepted after a rotation: enough to give every sender the new
 * one.
 */
export const rotationOverlap = { default: 86_400, max: 604_800 } as const;
/** The maximum number of webhooks of a project. */
export const MAX_WEBHOOKS = 200;

const WebhookName = NameText(200);
const PresetSchema = z.enum(PRESET_NAMES);
/** A colon is not allowed, because it separates user name and password in the header (RFC 7617). */
const Username = z
  .string()
  .regex(/^[\x21-\x39\x3b-\x7e]{1,100}$/, 'must be 1 to 100 printable ASCII characters without a colon or spaces');
const GivenSecret = z.string().max(1000);
const WebhookId = { id: Id };

/** The maximum time for which a delivery waits for the output, in seconds. */
export const DELIVERY_WAIT_S = 30;

export const Extras = z.strictObject({
  use_run_setup_defaults: z
    .boolean()
    .optional()
    .meta({ description: 'Merge the version’s saved run-setup defaults beneath the input. Default: no.' }),
  trigger_payload: AnyObject.optional().meta({ description: 'A fixed payload; the posted one is merged over it.' }),
  respond: z
    .literal('output')
    .optional()
    .meta({
      description: `\`output\`: a delivery waits up to ${DELIVERY_WAIT_S} seconds for the end of the run and is answered with its output. Default: it is answered at once.`,
    }),
});
/** The message in the deliveries about a request by which a sender only tests the address. */
export const TESTED = 'The sender tested the address; no run was started.';

export const DeliveryOutcome = z.enum(['accepted', 'duplicate', 'rejected', 'unauthorized', 'error']);

export const Delivery = z.strictObject({
  id: Id,
  outcome: DeliveryOutcome,
  http_status: z.number().int(),
  run_id: Id.nullable(),
  /** The reason of a failure, as a code; null if there was none. */
  code: z.string().nullable(),
  message: z.string().nullable(),
  bytes: z.number().int(),
  duration_ms: z.number().int(),
  received_at: Timestamp,
});

export const Webhook = z.strictObject({
  id: Id,
  tenant_id: z.string(),
  project_id: Id,
  workflow_id: Id,
  workflow_name: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  automation_pat_id: Id.nullable(),
  /** The user to whom runs are attributed if a token is stored. */
  automation_email: z.string().nullable(),
  extras: Extras,
  /** How deliveries are authenticated. */
  preset: PresetSchema,
  /** The user name that deliveries carry with the preset `basic`; otherwise null. */
  username: z.string().nullable(),
  /** False until the sender's secret is stored; deliveries are refused until then. */
  has_secret: z.boolean(),
  require_timestamp: z.boolean(),
  /** The time until which the previous secret is accepted too; null if only the current one is accepted. */
  previous_secret_expires_at: Timestamp.nullable(),
  ingress_url: z.string(),
  ingress_path: z.string(),
  last_delivery: Delivery.pick({ outcome: true, http_status: true, received_at: true }).nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const CreateWebhookInput = z.strictObject({
  workflow_id: Id,
  name: WebhookName,
  automation_pat_id: Id.optional().meta({ description: 'A token of your own (as tenant_admin: any of the project)' }),
  automation_bearer: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'A token itself, instead of its id; only its id is stored' }),
  extras: Extras.default({}),
  preset: PresetSchema.default('baton').meta({
    description:
      'How deliveries are authenticated. `baton`: X-Service-Signature and a token. Every other preset needs an automation token, to whose user runs are attributed.',
  }),
  username: Username.optional().meta({ description: 'For the preset `basic`, which requires it' }),
  signing_secret: GivenSecret.optional().meta({
    description:
      'The secret that the sender uses, for the presets `github`, `stripe`, `slack`, `meta`, `standard-webhooks` and `basic`. Default: a new one; for `stripe`, `slack` and `meta` none, until it is stored by PATCH.',
  }),
  require_timestamp: z
    .boolean()
    .default(false)
    .meta({ description: 'Refuse deliveries without X-Service-Timestamp; for the preset `baton` alone' }),
});
const VerifyToken = z
  .string()
  .optional()
  .meta({ description: 'Preset `meta`: the verify token to enter at Meta with the address. Shown once' });

export const CreateWebhookOutput = z.strictObject({
  subscription: Webhook,
  signing_secret: z
    .string()
    .nullable()
    .meta({ description: 'Shown once; null if it was given or is still to be given' }),
  verify_token: VerifyToken,
  ingress_url: z.string(),
  ingress_path: z.string(),
});

export const ListWebhooksInput = z.strictObject({ ...page, workflow_id: Id.optional() });
export const ListWebhooksOutput = z.strictObject({ subscriptions: z.array(Webhook), ...nextCursor });
export const WebhookRef = z.strictObject(WebhookId);

export const PatchWebhookInput = z.strictObject({
  ...WebhookId,
  name: WebhookName.optional(),
  enabled: z.boolean().optional(),
  extras: Extras.optional().meta({ description: 'Replaces the extras as a whole' }),
  automation_pat_id: Id.nullable()
    .optional()
    .meta({ description: 'null: runs belong to the user whose token delivers' }),
  require_timestamp: z.boolean().optional(),
  rotate_secret: z.boolean().optional().meta({ description: 'Answer with a new signing_secret, once' }),
  rotate_verify_token: z
    .boolean()
    .optional()
    .meta({ description: 'Preset `meta`: answer with a new verify_token, once; the old one is refused' }),
  signing_secret: GivenSecret.optional().meta({
    description: 'Store this secret as the new one, for the presets whose secret may be given',
  }),
  rotation_overlap_s: z
    .number()
    .int()
    .min(0)
    .max(rotationOverlap.max)
    .optional()
    .meta({ description: `For how long the old secret is accepted too; default ${rotationOverlap.default}` }),
});
export const PatchWebhookOutput = Webhook.extend({ signing_secret: z.string().optional(), verify_token: VerifyToken });

export const ListDeliveriesInput = z.strictObject({ ...WebhookId, ...page });
export const ListDeliveriesOutput = z.strictObject({ deliveries: z.array(Delivery), ...nextCursor });

export const TestWebhookInput = z.strictObject({ ...WebhookId, payload: JsonValueSchema.default({}) });

/** Accepts any text: a malformed id is answered like an unknown one. */
const Segment = z.string().meta({
  description:
    'UUID of the subscription; with the presets `secret-url` and `microsoft-graph`, a full stop and the secret follow',
});
export const IngestInput = z.strictObject({
  id: Segment,
  validationToken: z.string().optional().meta({
    description: 'Preset `microsoft-graph`: sent to test the address, and answered as plain text without a run',
  }),
});
/**
 * The query with which Meta tests an address. Missing values are accepted here, and refused in the same way as wrong
 * ones.
 */
export const ChallengeInput = z.strictObject({
  id: Segment,
  'hub.mode': z.string().optional(),
  'hub.challenge': z
    .string()
    .regex(/^[\w.-]{1,200}$/, 'must be 1 to 200 letters, digits, underscores, full stops or hyphens')
    .optional()
    .meta({ description: 'Comes back as it is, so it can be no markup' }),
  'hub.verify_token': z.string().max(200).optional(),
});
export const ChallengeAnswer = z.strictObject({ text: z.string() }).meta({ description: 'Sent as plain text' });
/** The answer to a start, with the run's output if the delivery waited for its end. */
export const IngestOutput = RunResult;
/** The answer to a delivery: that of a start, or the answer to a sender that only tests the address. */
export const DeliveryAnswer = z.union([
  IngestOutput,
  ChallengeAnswer,
  z.strictObject({ challenge: z.string() }).meta({ description: 'Slack’s `url_verification`, answered without a run' }),
  z.strictObject({ acknowledged: z.literal('ping') }).meta({ description: 'GitHub’s `ping`, answered without a run' }),
]);
