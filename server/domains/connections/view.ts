import type { z } from 'zod';
import { isoTimestamp } from '../../platform/clock.ts';
import type { Connection } from './schemas.ts';
import type { CountedRow } from './sql/store.ts';

const timestamp = (at: Date | null) => (at === null ? null : isoTimestamp(at.getTime()));

/** A connection as it crosses the wire: field by field, so that nothing else ever does. */
export function toConnection(row: CountedRow): z.input<typeof Connection> {
  return {
    id: row.id,
    project_id: row.project_id,
    name: row.name,
    provider: row.provider,
    service: row.service,
    status: row.status,
    credential_keys: row.credential_keys,
    config: row.config,
    account: row.account,
    origins: row.origins,
    last_error: row.last_error,
    expires_at: timestamp(row.expires_at),
    rotated_at: isoTimestamp(row.rotated_at.getTime()),
    last_used_at: timestamp(row.last_used_at),
    used_by: row.used_by,
    created_by: row.created_by,
    created_at: isoTimestamp(row.created_at.getTime()),
    updated_at: isoTimestamp(row.updated_at.getTime()),
  };
}
