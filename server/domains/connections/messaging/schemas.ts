import { z } from 'zod';
import { Id } from '../../../operation/wire.ts';
import { DisplayName, OauthCallback, Origins, Secret } from '../schemas.ts';

/** Used as a path segment of the API. */
const AccountId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"');
/** Sent in a header. */
const Token = Secret.regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');

export const MessagingConfigOutput = z.strictObject({
  enabled: z.boolean(),
  /** Whether the provider's own signup can be used. */
  embedded_signup: z.boolean(),
});
export const MessagingOauthUrlInput = z.strictObject({
  display_name: DisplayName.optional(),
  /** The connection to connect again, instead of creating another. */
  connection_id: Id.optional(),
  /** The same as for a suite account. */
  origins: Origins.optional(),
});
const account = { business_account_id: AccountId, phone_number_id: AccountId };
export const MessagingCompleteInput = z.strictObject({ ...OauthCallback, ...account });
export const MessagingManualInput = z.strictObject({
  display_name: DisplayName,
  access_token: Token,
  ...account,
  /** The key with which the provider signs its messages. */
  app_secret: Secret.optional(),
  connection_id: Id.optional(),
  /** Default: the origin of the first use by the person who connects; for a connection that is connected again, its present origins. */
  origins: Origins.optional(),
});
