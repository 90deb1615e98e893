import { z } from 'zod';
import type { Services } from '../../../operation/services.ts';
import { EgressRefused } from '../../../platform/egress/egress.ts';
import { AppError, invalid, unavailable } from '../../../platform/errors.ts';
import type { MessagingSettings } from '../../../platform/oauth/settings.ts';
import { noteSecrets } from '../../../platform/secrets/in-use.ts';

export type MessagingAccount = {
  business_account_id: string;
  phone_number_id: string;
  business_name?: string;
  display_phone_number?: string;
  verified_name?: string;
};
type Ids = Pick<MessagingAccount, 'business_account_id' | 'phone_number_id'>;

const TIMEOUT_MS = 8_000;
const text = z.string().min(1).max(500).optional().catch(undefined);
const Business = z.object({ name: text });
const PhoneNumber = z.object({ display_phone_number: text, verified_name: text });

/**
 * Reads the business account and the phone number with the token, before anything is saved. Throws AppError 422
 * `credentials_rejected` names the one that the API did not show; 503 `messaging_unavailable` if the API does not
 * answer. Neither error contains anything that the API sent.
 */
export async function readMessagingAccount(
  { egress }: Pick<Services, 'egress'>,
  { apiUrl }: MessagingSettings,
  token: string,
  ids: Ids,
): Promise<MessagingAccount> {
  noteSecrets([token]);
  const readNode = (path: keyof Ids) => requestJson(egress.fetch, `${apiUrl}/${ids[path]}`, token, path);
  const business = Business.safeParse(await readNode('business_account_id')).data;
  const phone = PhoneNumber.safeParse(await readNode('phone_number_id')).data;
  return {
    ...ids,
    ...(business?.name && { business_name: business.name }),
    ...(phone?.display_phone_number && { display_phone_number: phone.display_phone_number }),
    ...(phone?.verified_name && { verified_name: phone.verified_name }),
  };
}

async function requestJson(fetch: typeof globalThis.fetch, url: string, token: string, path: string): Promise<unknown> {
  try {
    const headers = { Authorization: `Bearer ${token}`, Accept: 'application/json' };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { headers, signal, redirect: 'error' });
    if (response.ok) return await response.json();
    await response.body?.cancel();
    throw refusalError(response.status, path);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw unavailableError(error instanceof EgressRefused ? error.message : 'it cannot be reached');
  }
}

function refusalError(status: number, path: string): AppError {
  if (status >= 500 || status === 429) return unavailableError(`it answered ${status}`);
  const details =
    status === 401 || status === 403
      ? [{ path: 'access_token', message: `was refused (${status})` }]
      : [{ path, message: `was not found with this token (${status})` }];
  return invalid('The messaging API did not accept these credentials.', details, 'credentials_rejected');
}

const unavailableError = (reason: string) =>
  unavailable('messaging_unavailable', `The messaging API is not available (${reason}).`, 10);
