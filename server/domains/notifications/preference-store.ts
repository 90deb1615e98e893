import type { Queryable } from '../../platform/postgres/transaction.ts';
import type { NotificationKind } from './schemas.ts';

type Person = { tenantId: string; userId: string };
/** The preferences that a person has chosen in a workspace. */
export type Preferences = {
  browser: NotificationKind[];
  email: NotificationKind[];
  webhook: NotificationKind[];
  webhookOrigin: string | null;
};
export type PreferencesOfPerson = Preferences & { address: string; confirmed: boolean };

/** The preferences until a person chooses: only the console shows notifications. */
const DEFAULTS: Preferences = {
  browser: [],
  email: [],
  webhook: [],
  webhookOrigin: null,
};

type Row = {
  browser: NotificationKind[] | null;
  email: NotificationKind[] | null;
  webhook: NotificationKind[] | null;
  webhook_origin: string | null;
  address: string;
  confirmed: boolean;
};

/** Returns the preferences of a member, with the address for mail; null if the person is not a member. */
export async function readPreferences(
  db: Queryable,
  { tenantId, userId }: Person,
): Promise<PreferencesOfPerson | null> {
  const { rows } = await db.query<Row>(
    `SELECT p.browser, p.email, p.webhook, p.webhook_origin, u.email AS address, u.confirmed_at IS NOT NULL AS confirmed
     FROM memberships m JOIN users u ON u.id = m.user_id
     LEFT JOIN notification_preferences p ON p.tenant_id = m.tenant_id AND p.user_id = m.user_id
     WHERE m.tenant_id = $1 AND m.user_id = $2`,
    [tenantId, userId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    browser: row.browser ?? DEFAULTS.browser,
    email: row.email ?? DEFAULTS.email,
    webhook: row.webhook ?? DEFAULTS.webhook,
    webhookOrigin: row.webhook_origin,
    address: row.address,
    confirmed: row.confirmed,
  };
}

/** Changes the given fields and keeps the rest; `at` in ms since the epoch. */
export async function savePreferences(
  db: Queryable,
  { tenantId, userId }: Person,
  change: Partial<Preferences>,
  at: number,
): Promise<void> {
  const { browser, email, webhook, webhookOrigin } = change;
  const first = { ...DEFAULTS, ...change };
  await db.query(
    `INSERT INTO notification_preferences (tenant_id, user_id, browser, email, webhook, webhook_origin, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (tenant_id, user_id) DO UPDATE SET
       browser = coalesce($8, notification_preferences.browser),
       email = coalesce($9, notification_preferences.email),
       webhook = coalesce($10, notification_preferences.webhook),
       webhook_origin = CASE WHEN $11 THEN excluded.webhook_origin ELSE notification_preferences.webhook_origin END,
       updated_at = excluded.updated_at`,
    [
      tenantId,
      userId,
      first.browser,
      first.email,
      first.webhook,
      first.webhookOrigin,
      new Date(at),
      browser ?? null,
      email ?? null,
      webhook ?? null,
      webhookOrigin !== undefined,
    ],
  );
}
