/** The request headers that an operation may declare to read. */
export const REQUEST_HEADERS = [
  'Authorization',
  'Idempotency-Key',
  'If-Match',
  'traceparent',
  'X-Service-Signature',
  'X-Service-Timestamp',
  'Stripe-Signature',
] as const;
export type RequestHeader = (typeof REQUEST_HEADERS)[number];
