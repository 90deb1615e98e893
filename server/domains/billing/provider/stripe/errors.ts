import Stripe from 'stripe';
import { type AppError, conflict, invalid, unavailable } from '../../../../platform/errors.ts';
import type { Logger } from '../../../../platform/logger.ts';

/** The number of seconds after which a caller should try again. */
const RETRY_AFTER_S = 5;

/** Returns the loggable part of a refusal: its code and subject, but never the data that was sent. */
export function summaryOf(error: Stripe.errors.StripeError): Record<string, unknown> {
  const { type, code, param, decline_code, statusCode, requestId } = error;
  return { stripe: { type, code, param, decline_code, status: statusCode, request_id: requestId } };
}

/**
 * Converts the failure of a call to Stripe to an AppError. A declined card is described in Stripe's own words, which
 * are written for the customer. Any other refusal has only its code, because Stripe's text may quote the request; it is
 * logged for the operator. 503 if Stripe did not answer, limits our requests, failed, or does not know our key. Other
 * errors are returned unchanged.
 */
export function translateError(error: unknown, logger: Logger): unknown {
  const { errors } = Stripe;
  if (!(error instanceof errors.StripeError)) return error;
  const summary = summaryOf(error);
  if (error instanceof errors.StripeCardError) return refused(error.message, error.decline_code ?? error.code);
  if (error instanceof errors.StripeIdempotencyError) {
    logger.warn(summary, 'Stripe was sent another request under a key it knows');
    return conflict('idempotency_conflict', 'This request was already made with other values; start again.');
  }
  if (error instanceof errors.StripeInvalidRequestError) {
    logger.warn(summary, 'Stripe refused a request');
    return refused(reasons[error.code ?? ''] ?? 'The payment provider refused the request.', error.code);
  }
  if (error instanceof errors.StripeAuthenticationError || error instanceof errors.StripePermissionError) {
    logger.error(summary, 'Stripe does not accept BATON_STRIPE_SECRET_KEY for this request');
    return providerUnavailable();
  }
  logger.warn(summary, 'Stripe is unavailable');
  return providerUnavailable();
}

/** Messages for people, by Stripe's code (docs.stripe.com/error-codes). */
const reasons: Record<string, string> = {
  resource_missing:
    'The payment provider does not know an object that the request names; the plans or keys may belong to another account.',
  amount_too_small: 'The amount is below what the payment provider takes.',
  amount_too_large: 'The amount is above what the payment provider takes.',
  coupon_expired: 'The discount has expired.',
  promotion_code_expired: 'The discount has expired.',
};

function refused(message: string, code: string | undefined): AppError {
  const details = code === undefined || code === '' ? undefined : [{ path: '', message, code }];
  return invalid(message, details, 'payment_refused');
}

function providerUnavailable(): AppError {
  return unavailable(
    'payment_provider_unavailable',
    'The payment provider is unavailable. Try again later.',
    RETRY_AFTER_S,
  );
}

/** Returns whether Stripe reports that the named object does not exist, or no longer does. */
export function isMissing(error: unknown, param?: string): boolean {
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError &&
    error.code === 'resource_missing' &&
    (param === undefined || error.param === param)
  );
}
