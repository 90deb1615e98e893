import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { CREDIT } from '../../contract/microcredits.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { dayOf } from './budget.ts';
import type { PatchSettingsInput, SettingsSchema } from './schemas.ts';
import { readSettings, saveSettings, spentSince } from './settings-store.ts';

type Settings = z.input<typeof SettingsSchema>;

/** GET /v1/chat/settings: the limits of the workspace, and what the caller's chats have cost today. */
export async function getChatSettings({ principal, services }: Context): Promise<Settings> {
  const { pool, clock } = services;
  const { daily_microcredits, retention_days } = await readSettings(pool, principal.tenantId);
  const { from, to } = dayOf(clock.now());
  return {
    daily_credits: daily_microcredits === null ? null : daily_microcredits / CREDIT,
    retention_days,
    used_today: (await spentSince(pool, principal, new Date(from))) / CREDIT,
    resets_at: isoTimestamp(to),
  };
}

/** PATCH /v1/chat/settings: changes what is given; null takes a limit away. */
export async function patchChatSettings(
  ctx: Context,
  { daily_credits, retention_days }: z.output<typeof PatchSettingsInput>,
): Promise<Settings> {
  const { principal, services } = ctx;
  const changes = {
    ...(daily_credits !== undefined && {
      daily_microcredits: daily_credits === null ? null : Math.round(daily_credits * CREDIT),
    }),
    ...(retention_days !== undefined && { retention_days }),
  };
  const at = new Date(services.clock.now());
  await saveSettings(services.pool, principal.tenantId, changes, { by: principal.userId, at });
  return getChatSettings(ctx);
}
