import { z } from 'zod';
import { AnyObject, Id, MAX_INTEGER, NameText, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';
import { GraphSchema } from '../workflows/schemas.ts';

/** Limits of a workspace. Limits of what a server sends are in catalog/clean.ts. */
export const limits = { serversPerTenant: 200, instancesPerProject: 500, profilesPerInstance: 50 } as const;

const Name = NameText(120);
const VersionNumber = z.coerce.number<number>().int().min(1).max(MAX_INTEGER);
const Force = z.boolean().default(false);
/** `third_party`: another owner's server. `platform`: one of the platform catalog. */
export const ServerMode = z.enum(['third_party', 'platform']);
/**
 * How a connection's credentials are sent: not at all, as a bearer token, as headers named like the credentials, as an
 * OAuth access token.
 */
export const AuthMode = z.enum(['none', 'token', 'header', 'oauth']);
export const ServerStatus = z.enum(['draft', 'published']);
/** Parsed by servers/canonical-url.ts, which reports what is wrong with it. */
const CanonicalUrl = PlainText(2_000).trim().min(1).meta({ format: 'uri' });

/** A tool as its server describes it. Its texts come from the server: show them as text, never as markup. */
export const Tool = z.strictObject({
  name: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  input_schema: AnyObject,
  output_schema: AnyObject.nullable(),
  annotations: AnyObject.nullable(),
});
export const ServerInfo = z.strictObject({
  name: z.string(),
  version: z.string(),
  protocol_version: z.string(),
  transport: z.string(),
  instructions: z.string().nullable(),
});
/** The differences between two catalogs, by tool name. */
export const CatalogDiff = z.strictObject({
  /** Null: there is no previous version, and every tool is new. */
  previous_version: z.number().int().nullable(),
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.strictObject({ name: z.string(), fields: z.array(z.string()) })),
});

export const Server = z.strictObject({
  id: Id,
  name: z.string(),
  /** A slug derived from the name, unique in the workspace. It stays when the name changes. */
  service: z.string(),
  canonical_url: z.string(),
  mode: ServerMode,
  auth_mode: AuthMode,
  status: ServerStatus,
  latest_version: z.number().int().nullable(),
  /** The number found by the last discovery. */
  tool_count: z.number().int(),
  instance_count: z.number().int(),
  discovered_at: Timestamp.nullable(),
  /** Why the last discovery failed; null if it succeeded. */
  last_error: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const Discovered = z.strictObject({
  tools: z.array(Tool),
  server_info: ServerInfo,
  /** The parts of the server's answer that were left out or cut short. */
  warnings: z.array(z.string()),
  /** The changes that publishing would make. */
  diff: CatalogDiff,
});
/** `discovered`: the tools of the last discovery, which the next version will hold. */
export const ServerDetail = Server.extend({ discovered: Discovered.nullable() });

export const ServerRef = z.strictObject({ id: Id });
export const ListServersInput = z.strictObject({
  ...page,
  status: ServerStatus.optional(),
  q: PlainText(200).optional().meta({ description: 'Part of the name, the service or the address' }),
});
export const ListServersOutput = z.strictObject({ servers: z.array(Server), ...nextCursor });
export const CreateServerInput = z.strictObject({
  name: Name,
  canonical_url: CanonicalUrl,
  mode: ServerMode.default('third_party'),
  auth_mode: AuthMode.default('none'),
});
export const PatchServerInput = z.strictObject({
  id: Id,
  name: Name.optional(),
  canonical_url: CanonicalUrl.optional(),
  auth_mode: AuthMode.optional(),
});
export const DeleteServerInput = z.strictObject({
  id: Id,
  force: Force.meta({ description: 'Deletes its instances with it; steps that use them fail' }),
});
export const WithConnection = z.strictObject({
  id: Id,
  connection_id: Id.optional().meta({ description: 'The connection whose credentials are sent; default: none' }),
});

export const PublishServerInput = z.strictObject({ id: Id, changelog: PlainText(2_000).optional() });
export const VersionSummary = z.strictObject({
  server_id: Id,
  version: z.number().int(),
  changelog: z.string(),
  checksum: z.string(),
  tool_count: z.number().int(),
  published_by: z.string(),
  published_at: Timestamp,
});
export const Version = VersionSummary.extend({ tools: z.array(Tool), server_info: ServerInfo, diff: CatalogDiff });
export const ListVersionsInput = z.strictObject({ id: Id, ...page });
export const ListVersionsOutput = z.strictObject({ versions: z.array(VersionSummary), ...nextCursor });
export const VersionRef = z.strictObject({ id: Id, version: VersionNumber });

/** `valid`: whether every check is ok. A check that was skipped because an earlier one failed is not ok. */
export const CheckReport = z.strictObject({
  valid: z.boolean(),
  checks: z.array(z.strictObject({ name: z.string(), ok: z.boolean(), message: z.string() })),
});
export const ValidateConnectionInput = z.strictObject({ id: Id, connection_id: Id });

export const CatalogTool = Tool.extend({
  server: z.strictObject({ id: Id, name: z.string(), service: z.string() }),
  version: z.number().int(),
  /** Instances of this project that call this version of the server, at most 20. */
  instances: z.array(z.strictObject({ id: Id, name: z.string() })),
});
export const ListToolsInput = z.strictObject({
  ...page,
  server_id: Id.optional(),
  instance_id: Id.optional(),
  q: PlainText(200).optional().meta({ description: "Part of the tool's name, title or description" }),
});
export const ListToolsOutput = z.strictObject({ tools: z.array(CatalogTool), ...nextCursor });
export const PlatformCatalogInput = z.strictObject({ ...page });
const PlatformAdapter = z.strictObject({
  key: z.string(),
  name: z.string(),
  description: z.string(),
  canonical_url: z.string(),
  auth_mode: AuthMode,
  documentation_url: z.string().nullable(),
  registered: z.boolean(),
  /** The id of the server that the adapter is registered as. */
  server_id: Id.nullable(),
});
export const PlatformCatalogOutput = z.strictObject({ adapters: z.array(PlatformAdapter), ...nextCursor });

/** The settings of an instance or a profile; see instances/settings.ts for their effects. */
export const Settings = AnyObject;
export const Instance = z.strictObject({
  id: Id,
  project_id: Id,
  server_id: Id,
  server: z.strictObject({
    id: Id,
    name: z.string(),
    service: z.string(),
    status: ServerStatus,
    auth_mode: AuthMode,
  }),
  /** Null: always the latest published one. */
  version: z.number().int().nullable(),
  /** The version that a call uses now; null if none is published. */
  effective_version: z.number().int().nullable(),
  tool_count: z.number().int(),
  name: z.string(),
  connection_id: Id.nullable(),
  connection_name: z.string().nullable(),
  config: Settings,
  active_profile_id: Id.nullable(),
  active_profile_name: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
/** A workflow with steps that call the instance, in its draft or in its latest version. */
const InstanceUse = z.strictObject({
  workflow_id: Id,
  name: z.string(),
  draft: z.boolean(),
  published: z.boolean(),
});
/** `used_by`: at most 20 workflows. */
export const InstanceDetail = Instance.extend({ used_by: z.array(InstanceUse) });
export const InstanceRef = z.strictObject({ id: Id });
export const ListInstancesInput = z.strictObject({
  ...page,
  server_id: Id.optional(),
  q: PlainText(200).optional().meta({ description: "Part of the instance's or the server's name" }),
});
export const ListInstancesOutput = z.strictObject({ instances: z.array(Instance), ...nextCursor });
const PinnedVersion = VersionNumber.nullable().meta({ description: 'null: always the latest published one' });
export const CreateInstanceInput = z.strictObject({
  server_id: Id,
  version: PinnedVersion.optional(),
  name: Name,
  connection_id: Id.nullable().optional(),
  config: Settings.default({}),
});
export const PatchInstanceInput = z.strictObject({
  id: Id,
  version: PinnedVersion.optional(),
  name: Name.optional(),
  connection_id: Id.nullable().optional(),
  config: Settings.optional(),
});
export const DeleteInstanceInput = z.strictObject({
  id: Id,
  force: Force.meta({ description: 'Also while workflows use it; their steps fail from then on' }),
});

export const ResolveInput = z.strictObject({
  workflow_id: Id.optional().meta({ description: 'Resolves its saved draft' }),
  graph: GraphSchema.optional().meta({ description: 'Resolves this graph instead' }),
});
const Problem = z.strictObject({ code: z.string(), message: z.string() });
export const Resolution = z.strictObject({
  step_id: z.string(),
  tool_name: z.string().nullable(),
  instance_id: z.string().nullable(),
  instance: z.strictObject({ id: Id, name: z.string() }).nullable(),
  server: z.strictObject({ id: Id, name: z.string(), service: z.string() }).nullable(),
  version: z.number().int().nullable(),
  profile: z.strictObject({ id: Id, name: z.string() }).nullable(),
  /** The active profile's connection, else the instance's own. */
  connection: z.strictObject({ id: Id, name: z.string(), status: z.string() }).nullable(),
  ok: z.boolean(),
  problems: z.array(Problem),
  /** At most 5 instances of the project that offer the tool, if the step's own does not. */
  suggestions: z.array(z.strictObject({ instance_id: Id, name: z.string(), server_name: z.string() })),
});
export const ResolveOutput = z.strictObject({ valid: z.boolean(), steps: z.array(Resolution) });

export const Profile = z.strictObject({
  id: Id,
  instance_id: Id,
  name: z.string(),
  settings: Settings,
  connection_id: Id.nullable(),
  connection_name: z.string().nullable(),
  active: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const ListProfilesInput = z.strictObject({ id: Id, ...page });
export const ListProfilesOutput = z.strictObject({ profiles: z.array(Profile), ...nextCursor });
export const CreateProfileInput = z.strictObject({
  id: Id,
  name: Name,
  settings: Settings.default({}),
  connection_id: Id.nullable().optional(),
});
export const PatchProfileInput = z.strictObject({
  id: Id,
  profile_id: Id,
  name: Name.optional(),
  settings: Settings.optional(),
  connection_id: Id.nullable().optional(),
});
export const ProfileRef = z.strictObject({ id: Id, profile_id: Id });
export const SetActiveInput = z.strictObject({
  id: Id,
  profile_id: Id,
  active: z.boolean().default(true).meta({ description: 'false: no profile is active any more' }),
});
