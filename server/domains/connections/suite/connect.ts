import { fetchUserInfo, skipSubjectCheck } from 'openid-client';
import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { conflict, invalid, notFound } from '../../../platform/errors.ts';
import type { SuiteSettings } from '../../../platform/oauth/settings.ts';
import { connectionRef, requireConnection } from '../get.ts';
import { withConnectionLock } from '../lock-queries.ts';
import { beginFlow, type FinishedFlow, finishFlow, refusal } from '../oauth/flow.ts';
import { credentialsOf, expiryOf } from '../oauth/tokens.ts';
import { originOf, originsOf } from '../origins.ts';
import { requireManageable } from '../ownership.ts';
import { saveNew } from '../save-new.ts';
import type { Connection, OauthUrl } from '../schemas.ts';
import { findConnection } from '../store.ts';
import { readForWriting, replaceSecret } from '../stored.ts';
import { toConnection } from '../view.ts';
import type { SuiteCompleteInput, SuiteConfigOutput, SuiteOauthUrlInput } from './schemas.ts';
import { isGranted, suiteConfigOf } from './services.ts';

/** Throws AppError 404 if the deployment has no suite (docs/specification/errors.md#status-codes). */
export function requireSuite({ config }: Pick<Services, 'config'>): SuiteSettings {
  if (config.suite === null) throw notFound('Suite connect');
  return config.suite;
}

/** GET /v1/connections/suite/config. */
export async function suiteConfig({ services }: Context): Promise<z.input<typeof SuiteConfigOutput>> {
  const { suite } = services.config;
  if (suite === null) return { enabled: false, services: [] };
  return { enabled: true, services: [...suite.services].map(([name, scopes]) => ({ name, scopes: [...scopes] })) };
}

/** The data that is needed when the flow is finished. */
const FlowRequest = z.object({
  services: z.array(z.string()),
  scopes: z.array(z.string()),
  display_name: z.string().optional(),
  connection_id: z.string().optional(),
  origins: z.array(z.string()).optional(),
});

/**
 * POST /v1/connections/suite/oauth-url: requests the named services, or all; with `connection_id` that connection is
 * connected again, and keeps its services. Throws AppError 404, 422 for an unknown service, 503.
 */
export async function suiteOauthUrl(
  ctx: Context,
  input: z.output<typeof SuiteOauthUrlInput>,
): Promise<z.input<typeof OauthUrl>> {
  const settings = requireSuite(ctx.services);
  const former = input.connection_id === undefined ? null : await requireSuiteConnection(ctx, input.connection_id);
  if (former !== null) requireManageable(ctx, former);
  const services = input.services ?? (former ? suiteConfigOf(former).services : [...settings.services.keys()]);
  const unknown = services.filter(service => !settings.services.has(service));
  if (input.services !== undefined && unknown.length > 0) {
    const details = unknown.map(service => ({
      path: 'services',
      message: `${service} is not a service of this suite`,
    }));
    throw invalid('These services do not exist.', details);
  }
  const scopes = [...new Set([...settings.scopes, ...services.flatMap(each => settings.services.get(each) ?? [])])];
  const { display_name: name, connection_id: id } = input;
  const request = {
    services,
    scopes,
    ...(name ? { display_name: name } : {}),
    ...(id ? { connection_id: id } : {}),
    ...(input.origins ? { origins: originsOf(input.origins) } : {}),
  };
  return beginFlow(ctx, { kind: 'suite', settings, scopes, request });
}

/** Returns a suite connection of the project or the workspace. Throws AppError 404 for any other. */
export async function requireSuiteConnection(ctx: Context, id: string) {
  const row = await findConnection(ctx.services.prisma, connectionRef(ctx, id));
  if (row?.provider !== 'suite') throw notFound('Suite connection');
  return row;
}

/**
 * POST /v1/connections/suite/complete: finishes the flow in a connection. A connection that is connected again must
 * have the same account, or its users would act as another person. Throws AppError 409 `account_differs`. Otherwise 404, 422
 * and 503 as in the flow.
 */
export async function suiteComplete(
  ctx: Context,
  { code, state, iss }: z.output<typeof SuiteCompleteInput>,
): Promise<z.input<typeof Connection>> {
  const { services, principal } = ctx;
  const settings = requireSuite(services);
  const { client, tokens, request } = await finishFlow(ctx, { kind: 'suite', settings }, { code, state, iss });
  const account = await readAccount({ client, tokens });
  const wanted = FlowRequest.parse(request);
  const granted = tokens.scope === undefined ? wanted.scopes : tokens.scope.split(' ').filter(scope => scope !== '');
  const on = wanted.services.filter(each => isGranted(settings.services.get(each) ?? [], granted));
  const made = {
    values: credentialsOf(tokens),
    expiresAt: expiryOf(tokens, services.clock.now()),
    config: { services: on, granted_scopes: granted },
    account,
    tokenOrigin: originOf(client.serverMetadata().token_endpoint ?? '') ?? undefined,
  };
  const { tenantId, projectId, userId } = principal;
  const id = wanted.connection_id;
  if (id === undefined) {
    const name = wanted.display_name ?? account.email ?? account.name ?? 'Suite account';
    const identity = { tenantId, projectId, name, provider: 'suite', service: 'oauth', createdBy: userId };
    const origins = wanted.origins ?? [];
    return toConnection({ ...(await saveNew(services, { ...identity, ...made, origins })), usedBy: 0 });
  }
  await withConnectionLock(services, id, async () => {
    const stored = await readForWriting(services, connectionRef(ctx, id));
    if (stored === null) throw notFound('Suite connection');
    requireManageable(ctx, stored.row);
    if (stored.row.account?.subject !== account.subject) {
      throw conflict(
        'account_differs',
        `"${stored.row.name}" belongs to another account: create a new connection for this one instead.`,
      );
    }
    // Some providers send a refresh token with the first consent only.
    const values = { ...stored.document?.values, ...made.values };
    const { values: _, ...rest } = made;
    const bound = { origins: wanted.origins, secretSetBy: userId };
    await replaceSecret(services, stored, values, { ...rest, ...bound, status: 'active', lastError: null });
  });
  return toConnection(await requireConnection(ctx, id));
}

const text = z.string().min(1).max(500).optional().catch(undefined);
/** Standard claims (OpenID Connect Core, 5.1) of the id token or of userinfo; others are not stored. */
const Claims = z.object({ sub: z.string().min(1).max(500), email: text, name: text, picture: text });
type Account = { subject: string; email?: string; name?: string; picture?: string };

async function readAccount({ client, tokens }: Pick<FinishedFlow, 'client' | 'tokens'>): Promise<Account> {
  const claims = tokens.claims();
  const hasUserinfo = client.serverMetadata().userinfo_endpoint !== undefined;
  const userinfo = hasUserinfo
    ? await fetchUserInfo(client, tokens.access_token, claims?.sub ?? skipSubjectCheck).catch(error => {
        throw refusal('suite', error);
      })
    : {};
  const read = Claims.safeParse({ ...claims, ...userinfo });
  if (!read.success) {
    throw invalid(
      'The suite did not identify the account: it needs openid or a userinfo endpoint.',
      undefined,
      'oauth_refused',
    );
  }
  const { sub, email, name, picture } = read.data;
  return { subject: sub, ...(email && { email }), ...(name && { name }), ...(picture && { picture }) };
}
