import type { BillingCustomer } from '../../../../operation/payment-provider.ts';
import { sha256 } from '../../../../platform/crypto/digest.ts';
import type { StripeAccount } from './account.ts';
import { isMissing } from './errors.ts';
import type { Ownership } from './state.ts';

/** Returns the metadata that marks an object at Stripe as this tenant's. */
export function ownership(account: StripeAccount, tenantId: string): Ownership {
  return { tenant_id: tenantId, product_code: account.productCode };
}

/**
 * Calls `work` with the id of the tenant's customer. Creates the customer if the tenant has none, or if the stored one
 * was deleted at Stripe. A tenant has one customer, even if a request is repeated.
 */
export async function withCustomer<T>(
  account: StripeAccount,
  customer: BillingCustomer,
  work: (customerId: string) => Promise<T>,
): Promise<T> {
  if (customer.customerId === null) return await work(await findOrCreate(account, customer, null));
  try {
    return await work(customer.customerId);
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error;
    account.logger.warn({ tenant_id: customer.tenantId }, 'Stripe has deleted a customer; creating it again');
    return await work(await findOrCreate(account, customer, customer.customerId));
  }
}

async function findOrCreate(account: StripeAccount, customer: BillingCustomer, gone: string | null): Promise<string> {
  const { stripe } = account;
  const metadata = ownership(account, customer.tenantId);
  // A request whose answer was lost may have created the customer longer ago than Stripe keeps a key (a day). The
  // search lags by a minute, which the key covers.
  const { data } = await stripe.customers.search({
    query: `metadata['tenant_id']:'${quoted(metadata.tenant_id)}' AND metadata['product_code']:'${quoted(metadata.product_code)}'`,
    limit: 1,
  });
  const [found] = data;
  if (found && found.id !== gone) return found.id;
  const params = { name: customer.tenantName, email: customer.email, metadata };
  // Another name or address changes the request to Stripe, which then needs another key.
  const idempotencyKey = `baton-customer-${sha256(JSON.stringify([params, gone])).toString('hex')}`;
  return (await stripe.customers.create(params, { idempotencyKey })).id;
}

function quoted(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}
