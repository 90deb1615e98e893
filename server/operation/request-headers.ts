/** The headers by which services sign and name what they deliver to webhooks. */
export const DELIVERY_HEADERS = [
  'Stripe-Signature',
  'X-Hub-Signature-256',
  'X-GitHub-Delivery',
  'X-GitHub-Event',
  'X-Slack-Signature',
  'X-Slack-Request-Timestamp',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'svix-id',
  'svix-timestamp',
  'svix-signature',
] as const;

/** The request headers that an operation may declare to read. */
export const REQUEST_HEADERS = [
  'Authorization',
  'Content-Encoding',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'Last-Event-ID',
  'traceparent',
  'X-Service-Signature',
  'X-Service-Timestamp',
  ...DELIVERY_HEADERS,
] as const;
export type RequestHeader = (typeof REQUEST_HEADERS)[number];

/** The workspace and the project that a caller with several of them names. */
export const TENANT_HEADER = 'x-tenant-id';
export const PROJECT_HEADER = 'x-project-id';
/** The header by which routes behind Next get the client's address; a client's own value is removed. */
export const ADDRESS_HEADER = 'x-baton-client-address';
