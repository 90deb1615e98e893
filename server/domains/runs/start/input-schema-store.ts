import type { Pool } from 'pg';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { ByteCache, bytesInMemory } from '../../../platform/byte-cache.ts';

type VersionScope = { tenantId: string; workflowId: string; version: number };
type Row = { schema: JsonMap | null };

/** Room for about 10,000 schemas of 800 bytes, in addition to versions without one. */
const MAX_CACHE_BYTES = 16 * 1024 * 1024;
const ENTRY_BYTES = 200;

const caches = new WeakMap<Pool, ByteCache<Row>>();

/**
 * Returns the `input_schema` of a version; null if it has none. A published version never changes, so a process reads
 * its schema once. Throws an Error if the version does not exist.
 */
export async function findInputSchema(pool: Pool, version: VersionScope): Promise<JsonMap | null> {
  const cache = caches.get(pool) ?? new ByteCache<Row>(MAX_CACHE_BYTES);
  caches.set(pool, cache);
  const key = `${version.tenantId}/${version.workflowId}/${version.version}`;
  // Snapshots of test runs are not cached: they are purged, and their numbers are reused.
  const known = version.version > 0 ? cache.get(key) : undefined;
  if (known !== undefined) return known.schema;
  const { rows } = await pool.query<Row>({
    name: 'find_input_schema',
    text: `SELECT graph_snapshot->'input_schema' AS schema FROM workflow_versions
            WHERE workflow_id = $1 AND version = $2 AND tenant_id = $3`,
    values: [version.workflowId, version.version, version.tenantId],
  });
  const found = rows[0];
  if (found === undefined)
    throw new Error(`version ${version.version} of workflow ${version.workflowId} does not exist`);
  if (version.version > 0) cache.set(key, found, ENTRY_BYTES + bytesInMemory(found.schema));
  return found.schema;
}
