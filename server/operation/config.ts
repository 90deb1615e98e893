import { z } from 'zod';
import { type OrchestratorSettings, orchestratorSchema, orchestratorSettings } from '../orchestrator/ports/settings.ts';
import { isMasterKey } from '../platform/crypto/master-key.ts';
import { AllowListError, parseAllowList } from '../platform/egress/addresses.ts';
import { type Environment, nearestName, withoutEmpty } from '../platform/environment.ts';
import { type MailSettings, mailSchema, mailSettings } from '../platform/mail/settings.ts';
import {
  type MessagingSettings,
  messagingSchema,
  messagingSettings,
  type SuiteSettings,
  suiteSchema,
  suiteSettings,
} from '../platform/oauth/settings.ts';
import type { DatabaseOptions } from '../platform/postgres/database.ts';
import { databaseSchema, databaseSettings } from '../platform/postgres/settings.ts';
import { secretsSchema, vaultSettings } from '../platform/secrets/settings.ts';
import type { VaultSettings } from '../platform/secrets/vault-session.ts';
import { integer, optional, optionalBearerToken, optionalHttpUrl } from '../platform/setting-types.ts';
import { tracingSchema, tracingSettings } from '../platform/telemetry/settings.ts';
import type { TracingSettings } from '../platform/telemetry/tracing.ts';
import { type BillingSettings, billingSchema, billingSettings } from './billing-settings.ts';
import { type ClusterSettings, clusterSchema, clusterSettings } from './cluster-settings.ts';
import { type McpSettings, mcpSchema, mcpSettings } from './mcp-settings.ts';
import { removedVariables } from './removed-variables.ts';
import { readSettings, SECRET_FILE_VARIABLES } from './setting-files.ts';
import { type SignOnSettings, signOnSchema, signOnSettings } from './sign-on-settings.ts';

/**
 * Reads all settings from the environment (docs/specification/http.md#configuration). One schema per subsystem;
 * docs/configuration.md lists all variables, and a test compares it with the schemas. ARCHITECTURE.md (Rules) names the
 * files that use the environment for what is no setting.
 */
const isHost = (host: string) =>
  /^[A-Za-z0-9_.:-]+$/.test(host) && URL.canParse(`http://${host.includes(':') ? `[${host}]` : host}`);
const masterKey = optional.refine(
  key => key === undefined || isMasterKey(key),
  'must be base64 of 32 bytes (openssl rand -base64 32)',
);

const httpSchema = z.object({
  PORT: integer(3000, 0, 65535),
  HOST: z
    .string()
    .refine(isHost, 'must be an IP address or a host name of this machine, such as 127.0.0.1 or 0.0.0.0')
    .default('127.0.0.1'),
  /** Public base URL; default http://HOST:PORT. */
  BATON_URL: optionalHttpUrl.refine(url => !/[?#@]/.test(url ?? ''), 'must have no user, query or fragment'),
  /** Requests a minute for a PAT, user or subscription; 0 = off. */
  BATON_RATE_LIMIT_PER_MINUTE: integer(6000, 0, 1_000_000),
  BATON_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: integer(600, 0, 1_000_000),
  BATON_RATE_LIMIT_SIGN_IN_PER_MINUTE: integer(10, 0, 1_000_000),
  /** Sign-in attempts per minute from one address, over all accounts; 0 = off. */
  BATON_SIGN_IN_LIMIT_PER_ADDRESS: integer(50, 0, 1_000_000),
  /** Failed attempts a day from one address, against guessing that stays below the limits per minute; 0 = off. */
  BATON_FAILED_SIGN_INS_PER_ADDRESS_PER_DAY: integer(1000, 0, 1_000_000),
  BATON_RATE_LIMIT_WRONG_CODES_PER_HOUR: integer(10, 0, 1_000_000),
  /** Open connections from one address, including WebSockets; 0 = no limit. */
  BATON_MAX_CONNECTIONS_PER_ADDRESS: integer(1000, 0, 1_000_000),
  /** Open event streams (WebSockets) of one user, with any number of tokens. */
  BATON_MAX_STREAMS_PER_USER: integer(500, 1, 1_000_000),
  BATON_MAX_STREAMS_PER_TENANT: integer(2000, 1, 1_000_000),
  /** Requests that wait for the end of a run: of one workspace, and in total. */
  BATON_MAX_WAITING_PER_TENANT: integer(200, 1, 1_000_000),
  BATON_MAX_WAITING: integer(1000, 1, 1_000_000),
  /** The token that a request for /metrics must present; without it there is no /metrics. */
  BATON_METRICS_TOKEN: optionalBearerToken,
  /** How many proxies in front of the service to trust for X-Forwarded-For. */
  BATON_TRUSTED_PROXIES: integer(0, 0, 10),
});

const ownerSchema = z.object({ BATON_OWNER_EMAIL: optional, BATON_OWNER_PASSWORD: optional, BATON_PAT: optional });

const identitySchema = ownerSchema.extend({
  BATON_TENANT: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a slug: lower-case letters, digits and hyphens')
    .default('main'),
  /** Determines who may create workspaces: any user or visitor; users who administer a workspace; only the operator. */
  BATON_SIGN_UP: z.enum(['open', 'invited', 'off']).default('invited'),
  /** Workspaces that one user may create. */
  BATON_MAX_WORKSPACES_PER_USER: integer(20, 1, 1_000_000),
  /** Base64 of 32 bytes; absent = generated into the data folder, mode 0600. */
  BATON_MASTER_KEY: masterKey,
  /**
   * The previous master key (base64): at start every tenant key that it wraps is wrapped again under the present one.
   */
  BATON_MASTER_KEY_PREVIOUS: masterKey,
  /** `example`: a local owner and example workflows on first start. Default: `example` with the embedded database, else `none`. */
  BATON_SEED: z.enum(['example', 'none']).optional(),
});

const retentionSchema = z.object({
  /** Days for which the history of an ended run is kept; 0 = no limit. */
  BATON_RETENTION_DAYS: integer(0, 0, 36_500),
  /** Whole months of usage kept besides the current one; 0 = no limit. */
  BATON_USAGE_RETENTION_MONTHS: integer(0, 0, 1_200),
  /** Days for which entries of the audit log are kept; 0 = no limit. */
  BATON_AUDIT_RETENTION_DAYS: integer(0, 0, 36_500),
});

const egressSchema = z.object({
  /** Non-public hosts, addresses and CIDRs that may be called, comma separated. */
  BATON_ALLOW_PRIVATE_NETWORK: z
    .string()
    .default('')
    .transform(list => list.split(',').flatMap(entry => entry.trim() || []))
    .superRefine((entries, context) => {
      try {
        parseAllowList(entries);
      } catch (error) {
        if (!(error instanceof AllowListError)) throw error;
        context.addIssue({ code: 'custom', message: error.message });
      }
    }),
});

const logSchema = z.object({
  BATON_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
});

const agentsSchema = z.object({
  /** Whether there are agents. Default: with the embedded database. */
  BATON_ENABLE_AGENTS: z.enum(['true', 'false']).optional(),
});

const demoSchema = z.object({
  /** Whether the demos answer at /demo/mcp and /demo/api; default: if the example is seeded, except in a cluster. */
  BATON_DEMO_MCP: z.enum(['true', 'false']).optional(),
});

const memorySchema = z.object({
  /** Whether the workspace keeps conversations and files and can search them (docs/memory.md). */
  BATON_MEMORY: z.enum(['on', 'off']).default('on'),
});

/** The file of settings, which `readSettings` reads. */
const filesSchema = z.object({ BATON_CONFIG: optional });

const schemas = {
  files: filesSchema,
  http: httpSchema,
  database: databaseSchema,
  identity: identitySchema,
  orchestrator: orchestratorSchema,
  retention: retentionSchema,
  secrets: secretsSchema,
  egress: egressSchema,
  mcp: mcpSchema,
  demo: demoSchema,
  agents: agentsSchema,
  log: logSchema,
  tracing: tracingSchema,
  suite: suiteSchema,
  messaging: messagingSchema,
  mail: mailSchema,
  billing: billingSchema,
  memory: memorySchema,
  cluster: clusterSchema,
  signOn: signOnSchema,
};

/** All variables, for the documentation test. */
export const configVariables: readonly string[] = Object.values(schemas).flatMap(schema => Object.keys(schema.shape));

export type Config = {
  env: 'production' | 'development' | 'test';
  http: {
    port: number;
    host: string;
    url: string;
    rateLimit: {
      principal: number;
      address: number;
      signIn: number;
      signInPerAddress: number;
      failedSignInsPerAddress: number;
      wrongCodes: number;
    };
    trustedProxies: number;
    maxConnectionsPerAddress: number;
    maxStreamsPerUser: number;
    maxStreamsPerTenant: number;
    maxWaitingPerTenant: number;
    maxWaiting: number;
    metricsToken: string | undefined;
  };
  database: DatabaseOptions;
  identity: {
    ownerEmail: string | undefined;
    ownerPassword: string | undefined;
    tenant: string;
    pat: string | undefined;
    masterKey: string | undefined;
    previousMasterKey: string | undefined;
    seed: 'example' | 'none';
    signUp: 'open' | 'invited' | 'off';
    maxWorkspacesPerUser: number;
    /** Whether people may sign in with a password. */
    passwordSignIn: boolean;
    /** Null: there is no sign-in through OpenID Connect. */
    signOn: SignOnSettings | null;
  };
  orchestrator: OrchestratorSettings;
  retention: { runDays: number; usageMonths: number; auditDays: number };
  /** Null: secrets are kept in the database. */
  secrets: { vault: VaultSettings | null };
  egress: { allowPrivate: readonly string[] };
  mcp: McpSettings;
  /** Whether the demo MCP server and the demo API answer. */
  demoMcp: boolean;
  /** Whether there are agents, and workflows with agents can be started. */
  agents: boolean;
  log: { level: string };
  /** Null: nothing is traced. */
  tracing: TracingSettings | null;
  /** Null: there are no suite connections. */
  suite: SuiteSettings | null;
  /** Null: there are no messaging connections. */
  messaging: MessagingSettings | null;
  /** Null: no mail is sent. */
  mail: MailSettings | null;
  billing: BillingSettings;
  memory: { on: boolean };
  /** Null: this process serves alone, or stands by. */
  cluster: ClusterSettings | null;
};

/** A configuration that cannot be used; `message` names every faulty variable, one per line. */
export class ConfigError extends Error {}

/**
 * Returns one line for each variable that was a setting once, and for each BATON_* variable that Baton does not know, with
 * the name that was probably meant; and for each such name in the file of BATON_CONFIG, whatever it begins with.
 */
export function unknownVariables(env: Environment = process.env): string[] {
  const known = [...configVariables, ...SECRET_FILE_VARIABLES];
  const explain = (name: string, place = '') => {
    const now = removedVariables[name];
    if (now !== undefined) return [`${name}${place} is no longer a setting and is ignored: ${now}`];
    if (known.includes(name)) return [];
    const meant = nearestName(name, known);
    return [`${name}${place} is not a setting and is ignored${meant === undefined ? '' : `: did you mean ${meant}?`}`];
  };
  const given = Object.keys(withoutEmpty(env)).filter(
    name => removedVariables[name] !== undefined || /^BATON_(?!TEST_)/.test(name),
  );
  const { inFile } = readSettings(env, known);
  return [
    ...given.flatMap(name => explain(name)),
    ...inFile.flatMap(name => explain(name, ' in the file of BATON_CONFIG')),
  ];
}

export type OwnerSettings = Pick<Config['identity'], 'ownerEmail' | 'ownerPassword' | 'pat' | 'seed'>;

/** Checks of single settings that need code from higher layers; each returns its problems. */
export type FurtherChecks = {
  owner?: (settings: OwnerSettings) => string[];
  billing?: (settings: BillingSettings) => string[];
};

/**
 * Reads the configuration from `environment` (normally process.env) and the files that it names; an empty variable counts
 * as unset. Throws ConfigError naming every bad variable.
 */
export function readConfig(environment: Environment = process.env, checks: FurtherChecks = {}): Config {
  const { env, problems } = readSettings(environment, configVariables);
  const parse = <S extends z.ZodType>(schema: S): z.output<S> => {
    const parsed = schema.safeParse(env);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) problems.push(`${String(issue.path[0])}: ${issue.message}`);
    return undefined as never; // never used: the problems below throw first
  };
  const http = parse(httpSchema);
  const database = parse(databaseSchema.transform(read => databaseSettings(read, problem => problems.push(problem))));
  const identity = parse(identitySchema);
  const orchestrator = parse(orchestratorSchema);
  const retention = parse(retentionSchema);
  const secrets = parse(secretsSchema);
  const egress = parse(egressSchema);
  const mcp = parse(mcpSchema);
  const demo = parse(demoSchema);
  const agents = parse(agentsSchema);
  const log = parse(logSchema);
  const memory = parse(memorySchema);
  const tracing = parse(tracingSchema);
  const suite = parse(suiteSchema.transform(read => suiteSettings(read, problem => problems.push(problem))));
  const messaging = parse(
    messagingSchema.transform(read => messagingSettings(read, problem => problems.push(problem))),
  );
  const mail = parse(mailSchema.transform(read => mailSettings(read, problem => problems.push(problem))));
  const embedded = database?.url === undefined;
  const billing = parse(
    billingSchema.transform(read => billingSettings(read, { embedded }, problem => problems.push(problem))),
  );
  const cluster = parse(clusterSchema.transform(read => clusterSettings(read, env, problem => problems.push(problem))));
  const signOn = parse(signOnSchema.transform(read => signOnSettings(read, problem => problems.push(problem))));
  // Undefined if the group could not be parsed.
  const seed = identity?.BATON_SEED ?? (embedded ? 'example' : 'none');
  problems.push(...(checks.owner?.({ ...ownerSettings(parse(ownerSchema)), seed }) ?? []));
  if (billing !== undefined) problems.push(...(checks.billing?.(billing) ?? []));
  if (problems.length > 0) throw new ConfigError([...new Set(problems)].join('\n'));

  const host = http.HOST.includes(':') ? `[${http.HOST}]` : http.HOST;
  const url = (http.BATON_URL ?? `http://${host}:${http.PORT}`).replace(/\/+$/, '');
  return {
    env: env.NODE_ENV === 'development' ? 'development' : env.NODE_ENV === 'test' ? 'test' : 'production',
    http: { ...httpConfig(http), url },
    database,
    identity: {
      ...ownerSettings(identity),
      tenant: identity.BATON_TENANT,
      masterKey: identity.BATON_MASTER_KEY,
      previousMasterKey: identity.BATON_MASTER_KEY_PREVIOUS,
      seed,
      signUp: identity.BATON_SIGN_UP,
      maxWorkspacesPerUser: identity.BATON_MAX_WORKSPACES_PER_USER,
      ...signOn,
    },
    orchestrator: orchestratorSettings(orchestrator),
    retention: {
      runDays: retention.BATON_RETENTION_DAYS,
      usageMonths: retention.BATON_USAGE_RETENTION_MONTHS,
      auditDays: retention.BATON_AUDIT_RETENTION_DAYS,
    },
    secrets: { vault: vaultSettings(secrets) },
    egress: { allowPrivate: egress.BATON_ALLOW_PRIVATE_NETWORK },
    mcp: mcpSettings(mcp, url),
    demoMcp:
      demo.BATON_DEMO_MCP === undefined ? seed === 'example' && cluster === null : demo.BATON_DEMO_MCP === 'true',
    agents: agents.BATON_ENABLE_AGENTS === undefined ? embedded : agents.BATON_ENABLE_AGENTS === 'true',
    log: { level: log.BATON_LOG_LEVEL },
    tracing: tracingSettings(tracing),
    suite,
    messaging,
    mail,
    billing,
    memory: { on: memory.BATON_MEMORY === 'on' },
    cluster,
  };
}

const httpConfig = (env: z.output<typeof httpSchema>): Omit<Config['http'], 'url'> => ({
  port: env.PORT,
  host: env.HOST,
  rateLimit: {
    principal: env.BATON_RATE_LIMIT_PER_MINUTE,
    address: env.BATON_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE,
    signIn: env.BATON_RATE_LIMIT_SIGN_IN_PER_MINUTE,
    signInPerAddress: env.BATON_SIGN_IN_LIMIT_PER_ADDRESS,
    failedSignInsPerAddress: env.BATON_FAILED_SIGN_INS_PER_ADDRESS_PER_DAY,
    wrongCodes: env.BATON_RATE_LIMIT_WRONG_CODES_PER_HOUR,
  },
  metricsToken: env.BATON_METRICS_TOKEN,
  trustedProxies: env.BATON_TRUSTED_PROXIES,
  maxConnectionsPerAddress: env.BATON_MAX_CONNECTIONS_PER_ADDRESS,
  maxStreamsPerUser: env.BATON_MAX_STREAMS_PER_USER,
  maxStreamsPerTenant: env.BATON_MAX_STREAMS_PER_TENANT,
  maxWaitingPerTenant: env.BATON_MAX_WAITING_PER_TENANT,
  maxWaiting: env.BATON_MAX_WAITING,
});

const ownerSettings = (env: z.output<typeof ownerSchema>): Omit<OwnerSettings, 'seed'> => ({
  ownerEmail: env.BATON_OWNER_EMAIL?.toLowerCase(),
  ownerPassword: env.BATON_OWNER_PASSWORD,
  pat: env.BATON_PAT,
});
