import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { CREDIT } from '../../orchestrator/ports/microcredits.ts';
import { dayOf } from '../../orchestrator/ports/spending.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { newSettings } from '../agents/settings.ts';
import { requireUsable } from './assistant.ts';
import type { PatchSettingsInput, SettingsSchema } from './schemas.ts';
import { readSettings, saveSettings, spentOn } from './settings-store.ts';

type Settings = z.input<typeof SettingsSchema>;

/** GET /v1/chat/settings: the limits and models of the workspace, and today's cost of the caller's chats and trials. */
export async function getChatSettings({ principal, services }: Context): Promise<Settings> {
  const { pool, clock } = services;
  const { daily_microcredits, ...decided } = await readSettings(pool, principal.tenantId);
  const day = dayOf(clock.now());
  return {
    daily_credits: daily_microcredits === null ? null : daily_microcredits / CREDIT,
    ...decided,
    used_today: (await spentOn(pool, principal, day)) / CREDIT,
    resets_at: isoTimestamp(day.to),
  };
}

/**
 * PATCH /v1/chat/settings: replaces the given settings. Null resets a setting. Throws AppError 422 `model_not_configured` for a model that
 * cannot be used in the caller's project.
 */
export async function patchChatSettings(
  ctx: Context,
  { daily_credits, ...others }: z.output<typeof PatchSettingsInput>,
): Promise<Settings> {
  const { principal, services } = ctx;
  for (const model of [others.assistant_model, others.autopilot_model, others.extraction_model])
    if (model != null) await requireUsable(ctx, newId(), newSettings({ model }));
  const changes = {
    ...(daily_credits !== undefined && {
      daily_microcredits: daily_credits === null ? null : Math.round(daily_credits * CREDIT),
    }),
    ...others,
  };
  const at = new Date(services.clock.now());
  await saveSettings(services.pool, principal.tenantId, changes, { by: principal.userId, at });
  return getChatSettings(ctx);
}
