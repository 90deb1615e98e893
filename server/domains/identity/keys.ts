import { resolve } from 'node:path';
import type { Pool } from 'pg';
import type { Config } from '../../operation/config.ts';
import type { Clock } from '../../platform/clock.ts';
import { deriveKey } from '../../platform/crypto/digest.ts';
import { DecryptionError } from '../../platform/crypto/envelope.ts';
import {
  createMasterKey,
  findMasterKey,
  loadMasterKey,
  MasterKeyError,
  masterKeyFile,
  parseMasterKey,
  readKeyFile,
} from '../../platform/crypto/master-key.ts';
import type { Logger } from '../../platform/logger.ts';
import { MisconfiguredError } from '../../platform/postgres/startup-error.ts';
import { DatabaseSecretStore, rotateMasterKey } from '../../platform/secrets/database-secret-store.ts';
import { registerProcessSecrets } from '../../platform/secrets/in-use.ts';
import {
  type Claim,
  claimMasterKey,
  compareMasterKey,
  ForeignMasterKeyError,
} from '../../platform/secrets/installation-key.ts';
import type { SecretStore } from '../../platform/secrets/secret-store.ts';
import { VaultSecretStore } from '../../platform/secrets/vault-secret-store.ts';
import type { VaultSettings } from '../../platform/secrets/vault-session.ts';

export type IdentityKeys = {
  masterKey: Buffer;
  /**
   * The key that signs and encrypts session cookies. It is derived from the master key, so a rotation ends all
   * sessions.
   */
  sessionSecret: string;
};

type KeyServices = { config: Config; pool: Pool; clock: Clock; logger: Logger };

/**
 * Returns the master key, checked against the database before anything relies on it, and the session secret derived
 * from it. If BATON_MASTER_KEY_PREVIOUS is set, the tenant keys are re-wrapped first. A new key is generated only for a
 * database that has none. With Vault the key only signs sessions, so it need not be the database's. Throws
 * MisconfiguredError with one line, so that a lost or swapped key is found at the start and not at the first webhook.
 * From here on, both keys are redacted from log lines.
 */
export async function loadIdentityKeys(services: KeyServices): Promise<IdentityKeys> {
  const { config } = services;
  try {
    const masterKey =
      config.secrets.vault === null ? await claimedKey(services) : await loadMasterKey(keySource(config));
    const sessionSecret = deriveKey(masterKey, 'session').toString('base64');
    registerProcessSecrets([masterKey.toString('base64'), masterKey.toString('hex'), sessionSecret]);
    return { masterKey, sessionSecret };
  } catch (error) {
    if (error instanceof MasterKeyError) throw new MisconfiguredError(error.message, { cause: error });
    if (error instanceof ForeignMasterKeyError || error instanceof DecryptionError) throw await foreignKey(config);
    throw error;
  }
}

const keySource = ({ identity, database }: Config) => ({
  configured: identity.masterKey,
  dataDir: database.dataDir,
});

async function claimedKey({ config, pool, clock, logger }: KeyServices): Promise<Buffer> {
  const { previousMasterKey: previous } = config.identity;
  const claim: Claim = {
    find: () => findMasterKey(keySource(config)),
    make: () => createMasterKey(config.database.dataDir),
    at: new Date(clock.now()),
  };
  if (previous !== undefined) {
    const from = parseMasterKey(previous, 'BATON_MASTER_KEY_PREVIOUS');
    const rotated = await rotateFrom(pool, from, claim);
    if (rotated > 0) logger.info({ tenants: rotated }, 'master key rotated');
  }
  const { masterKey, unopened } = await claimMasterKey(pool, claim);
  if (unopened > 0) {
    logger.error(
      { tenants: unopened },
      'workspaces were written with another master key: set it as BATON_MASTER_KEY_PREVIOUS and restart',
    );
  }
  return masterKey;
}

/**
 * Re-wraps the tenant keys under the current master key, and returns how many. Generates a new master key only if
 * the previous one is right.
 */
async function rotateFrom(pool: Pool, from: Buffer, claim: Claim): Promise<number> {
  const present = await claim.find();
  if (present === null) await claimMasterKey(pool, { ...claim, find: async () => from });
  return rotateMasterKey(pool, { from, to: present ?? (await claim.make()) });
}

async function foreignKey(config: Config): Promise<MisconfiguredError> {
  const file = masterKeyFile(resolve(config.database.dataDir));
  const everywhere = 'Every Baton on one database needs the same master key (docs/security.md).';
  if (config.identity.masterKey !== undefined) {
    return new MisconfiguredError(
      `BATON_MASTER_KEY is not the master key of this database: set it to the key that the database was first started with. ${everywhere}`,
    );
  }
  if ((await readKeyFile(file)) === null) {
    return new MisconfiguredError(
      `The database has a master key, and there is none in ${file}: copy that file from the first Baton, or set BATON_MASTER_KEY. ${everywhere}`,
    );
  }
  return new MisconfiguredError(
    `The master key ${file} is not the one of this database: restore the right file, or set BATON_MASTER_KEY. If npm run rotate-master-key was interrupted, run it again. ${everywhere}`,
  );
}

/**
 * Throws MisconfiguredError if the database no longer belongs to this master key: it was rotated while this process
 * stood by. Called each time this process acquires leadership.
 */
export async function verifyMasterKey(
  { config, pool }: Pick<KeyServices, 'config' | 'pool'>,
  masterKey: Buffer,
): Promise<void> {
  if (config.secrets.vault !== null || (await compareMasterKey(pool, masterKey)) !== 'foreign') return;
  throw new MisconfiguredError(
    'The master key of the database was replaced while this process was running: restart it with the new master key.',
  );
}

/**
 * Opens the secret store. An unavailable Vault does not prevent the start: operations that need a secret
 * answer 503 until it is back.
 */
export async function openSecretStore(
  services: KeyServices & { masterKey: Buffer },
): Promise<SecretStore & { close(): void }> {
  const { config, pool, clock, logger, masterKey } = services;
  const { vault } = config.secrets;
  if (vault !== null) return openVault({ settings: vault, clock, logger });
  return new DatabaseSecretStore({ pool, clock, masterKey });
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
