import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { notFound } from '../../../platform/errors.ts';
import type { MessagingSettings, OauthSettings } from '../../../platform/oauth/settings.ts';
import { connectionRef, requireConnection } from '../get.ts';
import { withConnectionLock } from '../lock-queries.ts';
import { beginFlow, finishFlow } from '../oauth/flow.ts';
import { credentialsOf, expiryOf } from '../oauth/tokens.ts';
import { originOf, originsOf } from '../origins.ts';
import { requireManageable } from '../ownership.ts';
import { saveNew } from '../save-new.ts';
import type { Connection, OauthUrl } from '../schemas.ts';
import { findConnection } from '../store.ts';
import { readForWriting, replaceSecret } from '../stored.ts';
import { toConnection } from '../view.ts';
import { type MessagingAccount, readMessagingAccount } from './account.ts';
import type {
  MessagingCompleteInput,
  MessagingConfigOutput,
  MessagingManualInput,
  MessagingOauthUrlInput,
} from './schemas.ts';

/** Returns the settings of messaging. Throws AppError 404 if the deployment has none. */
function requireMessaging({ config }: Pick<Services, 'config'>): MessagingSettings {
  if (config.messaging === null) throw notFound('Messaging connect');
  return config.messaging;
}

/** Returns the settings of the embedded signup. Throws AppError 404 if the deployment has none. */
function requireSignup(services: Pick<Services, 'config'>): MessagingSettings & { oauth: OauthSettings } {
  const { apiUrl, oauth } = requireMessaging(services);
  if (oauth === null) throw notFound('Messaging signup');
  return { apiUrl, oauth };
}

/** GET /v1/connections/messaging/config. */
export async function messagingConfig({ services }: Context): Promise<z.input<typeof MessagingConfigOutput>> {
  const { messaging } = services.config;
  return { enabled: messaging !== null, embedded_signup: messaging?.oauth != null };
}

const FlowRequest = z.object({
  display_name: z.string().optional(),
  connection_id: z.string().optional(),
  origins: z.array(z.string()).optional(),
});

/** POST /v1/connections/messaging/oauth-url: starts the provider's embedded signup. Throws AppError 404, 503. */
export async function messagingOauthUrl(
  ctx: Context,
  { display_name: name, connection_id: id, origins }: z.output<typeof MessagingOauthUrlInput>,
): Promise<z.input<typeof OauthUrl>> {
  const { oauth } = requireSignup(ctx.services);
  if (id !== undefined) await requireMessagingConnection(ctx, id);
  const request = {
    ...(name ? { display_name: name } : {}),
    ...(id ? { connection_id: id } : {}),
    ...(origins ? { origins: originsOf(origins) } : {}),
  };
  return beginFlow(ctx, { kind: 'messaging', settings: oauth, scopes: oauth.scopes, request });
}

/**
 * POST /v1/connections/messaging/complete: finishes the signup. The provider gave the ids to the page; they
 * are looked up with the fresh token before anything is saved. Throws AppError 404, 422 and 503 as in the flow and as
 * in `readMessagingAccount`.
 */
export async function messagingComplete(
  ctx: Context,
  { code, state, iss, ...ids }: z.output<typeof MessagingCompleteInput>,
): Promise<z.input<typeof Connection>> {
  const { services } = ctx;
  const settings = requireSignup(services);
  const flow = { kind: 'messaging', settings: settings.oauth } as const;
  const { client, tokens, request } = await finishFlow(ctx, flow, { code, state, iss });
  const values = credentialsOf(tokens);
  const account = await readMessagingAccount(services, settings, tokens.access_token, ids);
  const { display_name: name, connection_id: id, origins } = FlowRequest.parse(request);
  const expiresAt = expiryOf(tokens, services.clock.now());
  const tokenOrigin = originOf(client.serverMetadata().token_endpoint ?? '') ?? undefined;
  return save(ctx, { id, name: name ?? nameOf(account), values, account, origins, tokenOrigin, expiresAt });
}

/** POST /v1/connections/messaging/manual: credentials that a person entered. Throws AppError 404, 422, 503. */
export async function messagingManual(
  ctx: Context,
  input: z.output<typeof MessagingManualInput>,
): Promise<z.input<typeof Connection>> {
  const { display_name: name, connection_id: id, access_token, app_secret, origins: urls, ...ids } = input;
  const settings = requireMessaging(ctx.services);
  if (id !== undefined) await requireMessagingConnection(ctx, id);
  const account = await readMessagingAccount(ctx.services, settings, access_token, ids);
  const values = { access_token, ...(app_secret === undefined ? {} : { app_secret }) };
  const origins = urls && originsOf(urls);
  return save(ctx, { id, name, values, account, origins, tokenOrigin: undefined, expiresAt: null });
}

const nameOf = ({ verified_name, display_phone_number, phone_number_id }: MessagingAccount) =>
  verified_name ?? display_phone_number ?? phone_number_id;

async function requireMessagingConnection(ctx: Context, id: string): Promise<void> {
  const row = await findConnection(ctx.services.prisma, connectionRef(ctx, id));
  if (row?.provider !== 'messaging') throw notFound('Messaging connection');
  requireManageable(ctx, row);
}

type Made = {
  id: string | undefined;
  name: string;
  values: Record<string, string>;
  account: MessagingAccount;
  /** Undefined: unchanged. */
  origins: string[] | undefined;
  tokenOrigin: string | undefined;
  expiresAt: Date | null;
};

async function save(
  ctx: Context,
  { id, name, values, account, origins, tokenOrigin, expiresAt }: Made,
): Promise<z.input<typeof Connection>> {
  const { services } = ctx;
  const { tenantId, projectId, userId } = ctx.principal;
  const { business_account_id, phone_number_id } = account;
  const config = { business_account_id, phone_number_id };
  if (id === undefined) {
    const identity = {
      tenantId,
      projectId,
      name,
      provider: 'messaging',
      service: 'business_account',
      createdBy: userId,
    };
    const bound = { origins: origins ?? [], tokenOrigin: tokenOrigin ?? null };
    const row = await saveNew(services, { ...identity, ...bound, values, config, account, expiresAt });
    return toConnection({ ...row, usedBy: 0 });
  }
  await withConnectionLock(services, id, async () => {
    const stored = await readForWriting(services, connectionRef(ctx, id));
    if (stored === null) throw notFound('Messaging connection');
    requireManageable(ctx, stored.row);
    const bound = { origins, tokenOrigin, secretSetBy: userId };
    const changes = { config, account, expiresAt, status: 'active', lastError: null } as const;
    await replaceSecret(services, stored, values, { ...changes, ...bound });
  });
  return toConnection(await requireConnection(ctx, id));
}
