import { z } from 'zod';
import { type ProjectRole, projectRoles } from '../orchestrator/ports/authority.ts';
import { hostOf } from '../platform/egress/addresses.ts';
import type { OauthSettings } from '../platform/oauth/settings.ts';
import { optional, optionalHttpUrl } from '../platform/setting-types.ts';

/** A role that the members of a group have: on one project of a workspace, and perhaps as its administrators. */
export type GroupGrant = { workspace: string; project: string; role: ProjectRole; tenantAdmin: boolean };

export type SignOnSettings = {
  oauth: OauthSettings & { issuer: string };
  /** The claim that lists the groups of a person; the members of a nested one are separated by dots. */
  groupsClaim: string;
  /** The roles that each group grants; null: groups grant nothing, and take nothing away. */
  roleMap: ReadonlyMap<string, readonly GroupGrant[]> | null;
  /** The domains of email addresses that may sign in, in lower case; null: all. */
  allowedDomains: ReadonlySet<string> | null;
};

const wordsOf = (text: string) => text.split(/[\s,]+/).filter(word => word !== '');
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;

const Grant = z
  .strictObject(
    {
      workspace: z.string('names no workspace').min(1, 'names no workspace'),
      project: z.string('project must be a name').min(1, 'project must be a name').default('default'),
      role: z.enum(projectRoles, `role must be ${projectRoles.join(' or ')}`).optional(),
      tenant_admin: z.boolean('tenant_admin must be true or false').default(false),
    },
    {
      error: issue => (issue.code === 'unrecognized_keys' ? `knows no ${issue.keys.join(', ')}` : 'must be an object'),
    },
  )
  .refine(({ role, tenant_admin }) => role !== undefined || tenant_admin, 'grants no role');
const Grants = z.array(Grant).min(1, 'grants no role');

/** Reads the map of groups. Each problem is one line that names the group. */
const roleMap = optional.transform((text, context): SignOnSettings['roleMap'] => {
  if (text === undefined) return null;
  const problem = (message: string) => context.addIssue({ code: 'custom', message });
  const groups = z.record(z.string(), z.unknown()).safeParse(parsed(text));
  if (!groups.success) {
    problem('must be a JSON object of groups, such as {"staff": {"workspace": "main", "role": "project_viewer"}}');
    return null;
  }
  const map = new Map<string, readonly GroupGrant[]>();
  for (const [group, value] of Object.entries(groups.data)) {
    const grants = Grants.safeParse(Array.isArray(value) ? value : [value]);
    if (grants.success) map.set(group, grants.data.map(toGrant));
    else problem(`the group "${group}" ${grants.error.issues[0]?.message ?? 'is wrong'}`);
  }
  return map;
});

const toGrant = (grant: z.output<typeof Grant>): GroupGrant => ({
  workspace: grant.workspace,
  project: grant.project,
  role: grant.role ?? 'project_contributor',
  tenantAdmin: grant.tenant_admin,
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The environment of signing in through OpenID Connect (docs/sign-on.md). */
export const signOnSchema = z.object({
  /** Absent: there is no sign-in but by password. */
  BATON_OIDC_ISSUER: optionalHttpUrl.refine(
    url => url === undefined || !URL.canParse(url) || isSafe(new URL(url)),
    'must be https, except on this machine, and have no user, query or fragment',
  ),
  BATON_OIDC_CLIENT_ID: optional,
  BATON_OIDC_CLIENT_SECRET: optional,
  BATON_OIDC_SCOPES: z
    .string()
    .transform(wordsOf)
    .default(['openid', 'email', 'profile'])
    .refine(scopes => scopes.includes('openid'), 'must contain openid'),
  BATON_OIDC_GROUPS_CLAIM: z.string().trim().default('groups'),
  BATON_OIDC_ROLE_MAP: roleMap,
  BATON_OIDC_ALLOWED_DOMAINS: optional
    .transform(text => (text === undefined ? null : new Set(wordsOf(text.toLowerCase()))))
    .refine(
      domains => [...(domains ?? [])].every(domain => DOMAIN.test(domain)),
      'must be domains such as example.com, separated by commas',
    ),
  /** `off`: people sign in through OpenID Connect only. */
  BATON_PASSWORD_SIGN_IN: z.enum(['on', 'off']).default('on'),
});

/** The keys of the issuer come over the same connection as its address: plain http would let anybody on the way sign in as anybody. */
function isSafe(url: URL): boolean {
  const plain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  return plain && (url.protocol === 'https:' || ['localhost', '127.0.0.1', '::1'].includes(hostOf(url)));
}

/** Returns the settings, null without an issuer. Calls `problem` with what is missing or has no effect. */
export function signOnSettings(
  env: z.output<typeof signOnSchema>,
  problem: (line: string) => void,
): { signOn: SignOnSettings | null; passwordSignIn: boolean } {
  const { BATON_OIDC_ISSUER: issuer, BATON_OIDC_CLIENT_ID: clientId } = env;
  const passwordSignIn = env.BATON_PASSWORD_SIGN_IN === 'on';
  if (issuer === undefined || clientId === undefined) {
    if (issuer !== undefined) problem('BATON_OIDC_ISSUER: needs BATON_OIDC_CLIENT_ID');
    if (clientId !== undefined) problem('BATON_OIDC_CLIENT_ID: needs BATON_OIDC_ISSUER');
    if (!passwordSignIn) problem('BATON_PASSWORD_SIGN_IN: off needs BATON_OIDC_ISSUER: nobody could sign in');
    return { signOn: null, passwordSignIn };
  }
  const oauth = {
    issuer,
    endpoints: undefined,
    clientId,
    clientSecret: env.BATON_OIDC_CLIENT_SECRET,
    scopes: env.BATON_OIDC_SCOPES,
    authorizationParams: {},
    verifiesSignatures: true,
  };
  const signOn = {
    oauth,
    groupsClaim: env.BATON_OIDC_GROUPS_CLAIM,
    roleMap: env.BATON_OIDC_ROLE_MAP,
    allowedDomains: env.BATON_OIDC_ALLOWED_DOMAINS,
  };
  return { signOn, passwordSignIn };
}
