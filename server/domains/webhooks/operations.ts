import type { z } from 'zod';
import { operation, rawOperation } from '../../operation/operation.ts';
import { DELIVERY_HEADERS } from '../../operation/request-headers.ts';
import { NoContent } from '../identity/schemas.ts';
import { startScopes } from '../runs/start/step-scopes.ts';
import { answerChallenge } from './challenge.ts';
import { createWebhook } from './create.ts';
import { deleteWebhook } from './delete.ts';
import { ingest } from './ingest.ts';
import { getWebhook, listDeliveries, listWebhooks } from './list.ts';
import { patchWebhook } from './patch.ts';
import * as schema from './schemas.ts';
import { testWebhook } from './test-delivery.ts';

const manage = { tag: 'Inbound webhooks', access: 'project_contributor', scope: 'webhook:manage' } as const;

/**
 * The parts of the declaration that `webhooks_ingest` and `webhooks_ingest_callback`, two addresses of the ingress,
 * share.
 */
const delivery = {
  method: 'POST',
  status: 202,
  otherwise: {
    status: 200,
    description:
      'The run has ended, only where the webhook answers with the output; or the sender tested the address, and no run was started; or a form came from Slack, which gets an empty answer',
    where: (answer: z.input<typeof schema.DeliveryAnswer>) => !('run_id' in answer) || answer.output !== undefined,
  },
  plainText: (answer: z.input<typeof schema.DeliveryAnswer>) => ('text' in answer ? answer.text : null),
  tag: 'Inbound webhooks',
  access: 'public',
  input: schema.IngestInput,
  query: ['validationToken'],
  output: schema.DeliveryAnswer,
  errors: [401, 403, 409],
  headers: [
    'Authorization',
    'Content-Encoding',
    'Content-Type',
    'X-Service-Signature',
    'X-Service-Timestamp',
    'Idempotency-Key',
    'traceparent',
    ...DELIVERY_HEADERS,
  ],
  raw: {
    limit: schema.MAX_DELIVERY_BYTES,
    mediaTypes: [
      'application/json',
      'application/cloudevents+json',
      'application/x-www-form-urlencoded',
      'text/plain',
      'application/xml',
    ],
  },
  run: ingest,
} as const;

/** The operations on inbound webhooks, and the ingress itself. */
export const webhookOperations = [
  operation({
    ...manage,
    name: 'webhooks_list',
    method: 'GET',
    path: '/v1/inbound-webhooks',
    status: 200,
    summary: 'List the webhooks of the project, newest first, without their secrets',
    input: schema.ListWebhooksInput,
    output: schema.ListWebhooksOutput,
    mcp: { group: 'inbound' },
    run: listWebhooks,
  }),
  operation({
    ...manage,
    name: 'webhooks_create',
    method: 'POST',
    path: '/v1/inbound-webhooks',
    status: 201,
    summary: 'Create a webhook that starts a workflow; its signing secret is shown once',
    description: `The signing secret keys the signature of every delivery. \`preset\` chooses how deliveries are authenticated
(docs/specification/webhooks.md#presets): as the API does it (\`baton\`, the default), or as GitHub, Stripe, Slack, Meta, Microsoft Graph or Standard Webhooks
document it, by a user name and a password, or by a secret address. A secret that was given is not answered. With an automation token stored, runs are attributed to
that token's user; without one, to the user of the token that a delivery comes with. Storing a token needs the scope \`workflow:run\`, and
a contributor may name only a token of their own.`,
    input: schema.CreateWebhookInput,
    output: schema.CreateWebhookOutput,
    errors: [404],
    mcp: { group: 'inbound', risk: true },
    run: createWebhook,
  }),
  operation({
    ...manage,
    name: 'webhooks_get',
    method: 'GET',
    path: '/v1/inbound-webhooks/{id}',
    status: 200,
    summary: 'Read a webhook, without its secret',
    input: schema.WebhookRef,
    output: schema.Webhook,
    mcp: { group: 'inbound' },
    run: getWebhook,
  }),
  operation({
    ...manage,
    name: 'webhooks_patch',
    method: 'PATCH',
    path: '/v1/inbound-webhooks/{id}',
    status: 200,
    summary: 'Change a webhook, switch it on or off, or replace its signing secret',
    description: `\`signing_secret\` stores the secret that the sender gave. \`rotate_secret\` answers with a new \`signing_secret\`, once. The secret it replaces is accepted for
\`rotation_overlap_s\` more seconds (default a day, 0: not at all); the one before that no longer.`,
    input: schema.PatchWebhookInput,
    output: schema.PatchWebhookOutput,
    mcp: { group: 'inbound', risk: true, hints: { idempotent: false } },
    run: patchWebhook,
  }),
  operation({
    ...manage,
    name: 'webhooks_delete',
    method: 'DELETE',
    path: '/v1/inbound-webhooks/{id}',
    status: 204,
    summary: 'Delete a webhook with its secret and its deliveries; its runs stay',
    input: schema.WebhookRef,
    output: NoContent,
    mcp: { group: 'inbound' },
    run: deleteWebhook,
  }),
  operation({
    ...manage,
    name: 'webhooks_deliveries_list',
    method: 'GET',
    path: '/v1/inbound-webhooks/{id}/deliveries',
    status: 200,
    summary: 'List the latest deliveries and their outcomes, newest first',
    description: `The newest 200 are kept; of refusals that can come by the thousand (400, 401, 413, 415, 429, 503) the newest 50. Of those at
most ten a minute are written down; the next one says how many were not.`,
    input: schema.ListDeliveriesInput,
    output: schema.ListDeliveriesOutput,
    mcp: { group: 'inbound' },
    run: listDeliveries,
  }),
  operation({
    ...manage,
    name: 'webhooks_test',
    method: 'POST',
    path: '/v1/inbound-webhooks/{id}/test',
    status: 202,
    scope: 'workflow:run',
    scopesWhere: startScopes,
    summary: 'Deliver a payload as a test: starts a real run, attributed to you',
    input: schema.TestWebhookInput,
    output: schema.IngestOutput,
    errors: [409],
    mcp: { group: 'inbound', hints: { openWorld: true } },
    run: testWebhook,
  }),
  rawOperation({
    ...delivery,
    name: 'webhooks_ingest',
    path: '/v1/inbound-webhooks/{id}',
    summary: 'Deliver to a webhook: starts a run of its workflow',
    description: `The body (at most 256 KiB, also once a \`Content-Encoding\` of gzip, deflate or br is undone) becomes the run's input, read as \`{{input.<field>}}\`;
anything but an object is wrapped as \`{"body": …}\`, and an empty body is \`{}\`. JSON of any type, forms, CloudEvents, text and XML are read (docs/specification/webhooks.md#bodies).
\`X-Service-Signature\` is \`sha256=\` and the hex HMAC-SHA256 of the raw body as sent, keyed with the signing secret; with
\`X-Service-Timestamp\` of \`<timestamp>.<raw body>\`. An unknown or switched-off webhook, a bad signature, timestamp or token are one and the same 401.
A webhook with another preset than \`baton\` is authenticated by what its sender sends instead of the token and the signature; its 401 has the code
\`missing_signature\`, \`bad_signature\` or \`bad_timestamp\`.
A token that proves all that and lacks the scope of one of the workflow's types of step (\`mcp:execute\` for \`mcp_call\`, \`http_request\` and \`agent\`, \`ai:use\` for
\`llm_call\` and \`agent\`) is 403; that holds for the stored automation token too.
With an \`Idempotency-Key\` the same body starts one run in 24 hours; another body under the key is 409.
With \`extras.respond: "output"\` the answer waits up to 30 seconds for the end of the run, and is 200 with its \`status\` and \`output\` if it has ended.`,
  }),
  rawOperation({
    ...delivery,
    name: 'webhooks_ingest_callback',
    path: '/v1/inbound-webhooks/{id}/callback',
    summary: 'Deliver to a webhook at the address that answers challenges, too',
    description: 'The same as without `/callback`. Senders such as Meta test and use one address.',
  }),
  operation({
    name: 'webhooks_challenge',
    method: 'GET',
    path: '/v1/inbound-webhooks/{id}/callback',
    status: 200,
    tag: 'Inbound webhooks',
    summary: 'Answer the challenge by which Meta tests the address of a webhook',
    description:
      'Answers with `hub.challenge` as plain text if `hub.verify_token` is that of the webhook; everything else is one and the same 401.',
    access: 'public',
    input: schema.ChallengeInput,
    output: schema.ChallengeAnswer,
    plainText: ({ text }) => text,
    errors: [401],
    run: answerChallenge,
  }),
] as const;
