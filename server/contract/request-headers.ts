/** The request headers that an operation may declare to read. */
export const REQUEST_HEADERS = [
  'Authorization',
  'Idempotency-Key',
  'If-Match',
  'Last-Event-ID',
  'traceparent',
  'X-Service-Signature',
  'X-Service-Timestamp',
  'Stripe-Signature',
  'X-Hub-Signature-256',
  'X-GitHub-Delivery',
  'X-GitHub-Event',
  'X-Slack-Signature',
  'X-Slack-Request-Timestamp',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
] as const;
export type RequestHeader = (typeof REQUEST_HEADERS)[number];
