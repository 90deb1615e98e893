import { z } from 'zod';
import { AnyObject, Id, NameText, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';
import { BoundedRecord } from '../../platform/bounded-record.ts';

export const connectionStatuses = ['active', 'expired', 'error'] as const;
/** `error`: the provider did not return a fresh token, and is asked again; `expired`: it must be connected again. */
export type ConnectionStatus = (typeof connectionStatuses)[number];

export const MAX_CREDENTIALS = 32;
const MAX_SECRET_BYTES = 8 * 1024;
const MAX_CONFIG_BYTES = 16 * 1024;

const bytesOf = (text: string) => new TextEncoder().encode(text).byteLength;

const CredentialName = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", "." or "-"');
export const Secret = z
  .string()
  .min(1)
  .refine(secret => bytesOf(secret) <= MAX_SECRET_BYTES, `must be at most ${MAX_SECRET_BYTES} bytes`)
  .meta({ description: 'A secret, 1 byte to 8 KiB. Never returned.' });

const headerValue = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/**
 * Returns whether a secret can be sent as the value of a header, or within one (RFC 9110, 5.5,
 * without its obsolete characters).
 */
export const isHeaderValue = (value: string) => headerValue.test(value);
/** Credentials are sent as values of headers. An invalid value would fail at its first use, with an error of a library that quotes it. */
export const HeaderSecret = Secret.regex(
  headerValue,
  'must be printable ASCII, without line breaks and without spaces at its ends',
);

const ConnectionConfig = AnyObject.refine(
  config => bytesOf(JSON.stringify(config)) <= MAX_CONFIG_BYTES,
  `must be at most ${MAX_CONFIG_BYTES} bytes of JSON`,
).meta({ description: 'Settings that are not secret, such as a base URL; returned as they are.' });
export const DisplayName = NameText(120);

const OriginUrl = z
  .string()
  .max(500)
  .refine(isHttpUrl, 'must be an http or https URL without a user name, such as https://api.example.com')
  .meta({ format: 'uri' });
/** Paths are dropped: only scheme, host and port count. */
export const Origins = z.array(OriginUrl).min(1).max(10).meta({
  description:
    'The origins (scheme, host and port) that the credentials may be sent to. Others need the credentials to be entered again.',
});
function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
export const Shared = z.boolean().meta({
  description: 'Whether every project of the workspace uses it. Only a `tenant_admin` may change it.',
});
const Kind = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be 1 to 64 letters, digits, "_", "." or "-"');

export const Connection = z.strictObject({
  id: Id,
  /** The project to which it belongs; null: shared with the whole workspace. */
  project_id: Id.nullable(),
  name: z.string(),
  provider: z.string(),
  service: z.string(),
  status: z.enum(connectionStatuses),
  credential_keys: z.array(z.string()),
  config: AnyObject,
  /** The account that it represents, if a provider named it. */
  account: AnyObject.nullable(),
  /** Where its credentials may be sent. Empty: the first use by the person who stored them decides. */
  origins: z.array(z.string()),
  last_error: z.string().nullable(),
  /** The expiry of the access token; a fresh one is fetched before then if the provider allows it. */
  expires_at: Timestamp.nullable(),
  rotated_at: Timestamp,
  last_used_at: Timestamp.nullable(),
  /** The number of MCP instances and config profiles of the whole workspace that use it. */
  used_by: z.number().int(),
  created_by: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const ById = z.strictObject({ id: Id });
export const ListConnectionsInput = z.strictObject({
  ...page,
  provider: z.string().max(64).optional(),
  service: z.string().max(64).optional(),
  status: z.enum(connectionStatuses).optional(),
  q: PlainText(200).optional(),
});
export const ListConnectionsOutput = z.strictObject({ connections: z.array(Connection), ...nextCursor });

/** Providers whose connections are created by their own flow, which checks them. */
export const flowProviders: readonly string[] = ['suite', 'messaging'];
export const CreateConnectionInput = z.strictObject({
  display_name: DisplayName,
  provider: Kind.refine(provider => !flowProviders.includes(provider), 'is connected by its own flow'),
  service: Kind,
  credentials: BoundedRecord(z.record(CredentialName, HeaderSecret), {
    noun: 'credentials',
    least: 1,
    most: MAX_CREDENTIALS,
  }),
  config: ConnectionConfig.optional(),
  /** Default: the origin of `config.base_url`; without one, the origin of its creator's first use. */
  origins: Origins.optional(),
  shared: Shared.optional(),
});
export const PatchConnectionInput = z.strictObject({
  id: Id,
  display_name: DisplayName.optional(),
  /** Merged: a name that is not given keeps its secret; null removes it. */
  credentials: BoundedRecord(z.record(CredentialName, HeaderSecret.nullable()), {
    noun: 'credentials',
    least: 0,
    most: 2 * MAX_CREDENTIALS,
  }).optional(),
  /** Replaces the whole configuration. */
  config: ConnectionConfig.optional(),
  /** Replaces all origins. A new origin requires every credential in `credentials`: 422 `secret_required`. */
  origins: Origins.optional(),
  shared: Shared.optional(),
});
export const DeleteConnectionInput = z.strictObject({
  id: Id,
  /** Deletes the connection even if it is in use. Its users are left without a connection. */
  force: z.boolean().default(false),
});

export const CredentialMetadata = z.strictObject({
  credentials: z.array(z.strictObject({ name: z.string(), set_at: Timestamp })),
});

const Named = z.strictObject({ id: Id, name: z.string() });
export const ConnectionUsage = z.strictObject({
  /** The number of all users of the connection, in every project of the workspace. */
  total: z.number().int(),
  /** Instances of the request's project; the lists below are also restricted to it. */
  instances: z.array(Named),
  profiles: z.array(Named.extend({ instance_id: Id, instance_name: z.string() })),
  /** Workflows with an HTTP request that names it; for a model key, also those with an LLM step with a model of its provider. */
  workflows: z.array(Named),
  /** How many of `total` are in other projects, whose names are not revealed. */
  elsewhere: z.number().int(),
});

/** The parameters that an authorization server sends to the callback page. */
export const OauthCallback = {
  code: z.string().min(1).max(4096),
  state: z.string().min(1).max(200),
  /** RFC 9207; required if the server declares that it sends it. */
  iss: z.string().min(1).max(500).optional(),
};
export const OauthUrl = z.strictObject({
  /** The address to open in the browser of the person who connects. */
  authorization_url: z.string(),
  state: z.string(),
  expires_at: Timestamp,
});
