import { z } from 'zod';
import { optional, optionalHttpUrl } from '../setting-types.ts';
import type { VaultSettings } from './vault-session.ts';

const vaultPath = z
  .string()
  .regex(/^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/, 'must be a path of letters, digits, hyphens and underscores');

/** The environment of the secret store (docs/security.md). */
export const secretsSchema = z
  .object({
    BATON_SECRET_STORE: z.enum(['database', 'vault']).default('database'),
    BATON_VAULT_ADDR: optionalHttpUrl,
    BATON_VAULT_TOKEN: optional,
    BATON_VAULT_ROLE_ID: optional,
    BATON_VAULT_SECRET_ID: optional,
    BATON_VAULT_MOUNT: vaultPath.default('secret'),
    BATON_VAULT_PREFIX: vaultPath.default('baton'),
    BATON_VAULT_NAMESPACE: optional,
  })
  .superRefine((env, context) => {
    if (env.BATON_SECRET_STORE !== 'vault') return;
    const issue = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
    if (env.BATON_VAULT_ADDR === undefined) issue('BATON_VAULT_ADDR', 'is needed for BATON_SECRET_STORE=vault');
    const role = env.BATON_VAULT_ROLE_ID !== undefined && env.BATON_VAULT_SECRET_ID !== undefined;
    if (role === (env.BATON_VAULT_TOKEN !== undefined)) {
      issue('BATON_VAULT_TOKEN', 'either this or BATON_VAULT_ROLE_ID with BATON_VAULT_SECRET_ID is needed for vault');
    }
  });

/** Returns the settings of Vault; null if secrets are stored in the database. */
export function vaultSettings(env: z.output<typeof secretsSchema>): VaultSettings | null {
  const { BATON_VAULT_ADDR: address, BATON_VAULT_TOKEN: token } = env;
  if (env.BATON_SECRET_STORE !== 'vault' || address === undefined) return null;
  return {
    address: address.replace(/\/+$/, ''),
    mount: env.BATON_VAULT_MOUNT,
    prefix: env.BATON_VAULT_PREFIX,
    namespace: env.BATON_VAULT_NAMESPACE,
    credentials:
      token === undefined
        ? { roleId: env.BATON_VAULT_ROLE_ID ?? '', secretId: env.BATON_VAULT_SECRET_ID ?? '' }
        : { token },
  };
}
