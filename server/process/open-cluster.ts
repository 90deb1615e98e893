import { readFileSync } from 'node:fs';
import type { Config } from '../operation/config.ts';
import { type Facts, joinCluster, type Membership } from '../orchestrator/cluster/index.ts';
import type { Alarm, Clock } from '../platform/clock.ts';
import { deriveKey, sha256 } from '../platform/crypto/digest.ts';
import { parseMasterKey } from '../platform/crypto/master-key.ts';
import type { Logger } from '../platform/logger.ts';
import { VERSION } from './version.ts';

type Parts = { config: Config; connectionString: string; clock: Clock; alarm: Alarm; logger: Logger };

/**
 * Makes this process a node of the cluster. Returns null without a cluster. Throws MisconfiguredError if its settings
 * differ from those of the running nodes, before it writes anything that they rely on.
 */
export async function openCluster({ config, ...parts }: Parts): Promise<Membership | null> {
  const { cluster, http } = config;
  if (cluster === null) return null;
  if (cluster.publicUrl === undefined)
    parts.logger.warn({ url: http.url }, 'BATON_URL is not set: links that are sent or shown lead to one node');
  return joinCluster({
    ...parts,
    url: cluster.nodeUrl,
    port: http.port,
    leads: cluster.leads,
    shards: cluster.shards,
    version: VERSION,
    facts: factsOf(config),
  });
}

/**
 * Returns the settings that all nodes must share. The bundled plans are not compared: a rolling release may change them,
 * and each plan is created once. A fingerprint does not reveal its key.
 */
function factsOf({ identity, billing, cluster }: Config): Facts {
  const masterKey = parseMasterKey(identity.masterKey ?? '', 'BATON_MASTER_KEY');
  return new Map([
    ['BATON_MASTER_KEY', deriveKey(masterKey, 'cluster').toString('base64url')],
    ['BATON_URL', cluster?.publicUrl ?? ''],
    ['BATON_SHARDS', String(cluster?.shards ?? '')],
    ['BATON_PRODUCT_CODE', billing.productCode],
    [
      'BATON_PLANS_FILE',
      billing.plansFile === null ? '' : sha256(readFileSync(billing.plansFile)).toString('base64url'),
    ],
  ]);
}
