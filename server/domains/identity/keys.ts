import type { Pool } from 'pg';
import { type Config, ConfigError } from '../../config.ts';
import type { Clock } from '../../platform/clock.ts';
import { deriveKey } from '../../platform/crypto/digest.ts';
import { DecryptionError } from '../../platform/crypto/envelope.ts';
import { loadMasterKey, MasterKeyError, parseMasterKey } from '../../platform/crypto/master-key.ts';
import type { Logger } from '../../platform/logger.ts';
import { DatabaseSecretStore, rotateMasterKey } from '../../platform/secrets/database-secret-store.ts';
import type { SecretStore } from '../../platform/secrets/secret-store.ts';
import { VaultSecretStore } from '../../platform/secrets/vault-secret-store.ts';
import type { VaultSettings } from '../../platform/secrets/vault-session.ts';

export type IdentityKeys = {
  masterKey: Buffer;
  /** Signs and encrypts session cookies; follows the master key, so a rotation signs everybody out. */
  sessionSecret: string;
};

/** Reads or makes the master key and derives the session secret. Throws ConfigError with one clear line. */
export async function loadIdentityKeys(config: Config): Promise<IdentityKeys> {
  try {
    const masterKey = await loadMasterKey({
      configured: config.identity.masterKey,
      dataDir: config.database.dataDir,
    });
    return { masterKey, sessionSecret: deriveKey(masterKey, 'session').toString('base64') };
  } catch (error) {
    throw error instanceof MasterKeyError ? new ConfigError(error.message, { cause: error }) : error;
  }
}

/**
 * The secret store of this deployment, checked against the master key before anything relies on it. Where
 * BATON_MASTER_KEY_PREVIOUS is set, the tenant keys are re-wrapped first. Throws ConfigError when the stored keys open
 * with neither, so that a lost or swapped key is found at start and not at the first webhook. A Vault that is away is no
 * reason not to start: what needs a secret answers 503 until it is back.
 */
export async function openSecretStore(services: {
  config: Config;
  pool: Pool;
  clock: Clock;
  logger: Logger;
  masterKey: Buffer;
}): Promise<SecretStore & { close(): void }> {
  const { config, pool, clock, logger, masterKey } = services;
  const mismatch = () =>
    new ConfigError(
      'The master key is not the one the stored secrets were encrypted with (BATON_MASTER_KEY). If npm run rotate-master-key was interrupted, run it again.',
    );
  const previous = config.identity.previousMasterKey;
  try {
    if (previous !== undefined) {
      const from = parseMasterKey(previous, 'BATON_MASTER_KEY_PREVIOUS');
      const rotated = await rotateMasterKey(pool, { from, to: masterKey });
      if (rotated > 0) logger.info({ tenants: rotated }, 'master key rotated');
    }
  } catch (error) {
    if (error instanceof MasterKeyError) throw new ConfigError(error.message, { cause: error });
    throw error instanceof DecryptionError ? mismatch() : error;
  }
  const { vault } = config.secrets;
  if (vault !== null) return openVault({ settings: vault, clock, logger });
  const store = new DatabaseSecretStore({ pool, clock, masterKey });
  if (!(await store.acceptsMasterKey())) throw mismatch();
  return store;
}

async function openVault(options: {
  settings: VaultSettings;
  clock: Clock;
  logger: Logger;
}): Promise<VaultSecretStore> {
  const { settings, clock, logger } = options;
  const store = new VaultSecretStore({
    settings,
    clock,
    alarm(delayMs, ring) {
      const timeout = setTimeout(ring, delayMs);
      return () => clearTimeout(timeout);
    },
  });
  try {
    await store.check();
  } catch (error) {
    logger.warn({ err: error }, 'the secret store is not available');
  }
  return store;
}
