import type { z } from 'zod';
import { isoTimestamp } from '../../platform/clock.ts';
import type { Connection } from './schemas.ts';
import type { CountedRow } from './store.ts';

const timestamp = (at: Date | null) => (at === null ? null : isoTimestamp(at.getTime()));

/** Returns a connection for the wire, field by field, so that nothing else is ever sent. */
export function toConnection(row: CountedRow): z.input<typeof Connection> {
  return {
    id: row.id,
    project_id: row.projectId,
    name: row.name,
    provider: row.provider,
    service: row.service,
    status: row.status,
    credential_keys: row.credentialKeys,
    config: row.config,
    account: row.account,
    origins: row.origins,
    last_error: row.lastError,
    expires_at: timestamp(row.expiresAt),
    rotated_at: isoTimestamp(row.rotatedAt.getTime()),
    last_used_at: timestamp(row.lastUsedAt),
    used_by: row.usedBy,
    created_by: row.createdBy,
    created_at: isoTimestamp(row.createdAt.getTime()),
    updated_at: isoTimestamp(row.updatedAt.getTime()),
  };
}
