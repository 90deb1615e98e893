import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor } from '../../../operation/cursor.ts';
import { Id, PlainText } from '../../../operation/wire.ts';
import { conflict, invalid, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import {
  type CreateProfileInput,
  type ListProfilesInput,
  type ListProfilesOutput,
  limits,
  type PatchProfileInput,
  type Profile,
  type ProfileRef,
  type SetActiveInput,
} from '../schemas.ts';
import { requireServer } from '../servers/view.ts';
import { deleteProfileRow, findProfile, insertProfile, listProfileRows, type ProfileKey } from './profile-queries.ts';
import { checkSettings } from './settings.ts';
import { setActiveProfile, updateProfile } from './store.ts';
import { instanceKey, requireInstance, requireOwnConnection, toProfile } from './view.ts';

type ProfileView = z.input<typeof Profile>;

const ProfileCursor = z.tuple([PlainText(200), Id]);

/** Lists the profiles by name. Throws AppError 404. */
export async function listProfiles(
  ctx: Context,
  { id, limit, cursor }: z.output<typeof ListProfilesInput>,
): Promise<z.input<typeof ListProfilesOutput>> {
  const key = decodeCursor(ProfileCursor, cursor);
  await requireInstance(ctx, id);
  const after = key && { name: key[0], id: key[1] };
  const rows = await listProfileRows(ctx.services.pool, instanceKey(ctx, id), { after, limit: limit + 1 });
  const page = cutPage(rows, limit, row => [row.name, row.id]);
  return { profiles: page.rows.map(toProfile), next_cursor: page.next_cursor };
}

/**
 * Creates a profile, which is not active yet. Throws AppError 404, 409 `name_taken`, 422 `unknown_connection`,
 * `invalid_settings`, `limit_reached`.
 */
export async function createProfile(ctx: Context, input: z.output<typeof CreateProfileInput>): Promise<ProfileView> {
  const { pool, clock } = ctx.services;
  const instance = await requireInstance(ctx, input.id);
  const { name, settings, connection_id: connectionId = null } = input;
  await requireOwnConnection(ctx, connectionId, await requireServer(ctx, instance.server_id));
  checkSettings('settings', settings);
  const key = profileKey(ctx, { id: input.id, profile_id: newId() });
  const outcome = await insertProfile(pool, { ...key, at: new Date(clock.now()) }, { name, settings, connectionId });
  if (outcome === 'taken') throw nameTaken(name);
  if (outcome === 'full') {
    throw invalid(`An instance has at most ${limits.profilesPerInstance} profiles.`, [], 'limit_reached');
  }
  return describeProfile(ctx, key);
}

/** Changes the given fields. Throws AppError 404, 409 `name_taken`, 422 as for creating. */
export async function patchProfile(ctx: Context, input: z.output<typeof PatchProfileInput>): Promise<ProfileView> {
  const { prisma, clock } = ctx.services;
  const key = profileKey(ctx, input);
  await describeProfile(ctx, key);
  const instance = await requireInstance(ctx, input.id);
  const { name, settings, connection_id: connectionId } = input;
  await requireOwnConnection(ctx, connectionId, await requireServer(ctx, instance.server_id));
  if (settings !== undefined) checkSettings('settings', settings);
  const at = new Date(clock.now());
  if (name !== undefined || settings !== undefined || connectionId !== undefined) {
    const outcome = await updateProfile(prisma, { ...key, at }, { name, settings, connectionId });
    if (outcome === 'taken') throw nameTaken(name ?? '');
    if (outcome === 'missing') throw notFound('Profile');
  }
  return describeProfile(ctx, key);
}

/** Deletes a profile. If it was active, the instance's own connection and settings apply again. Throws AppError 404. */
export async function deleteProfile(ctx: Context, input: z.output<typeof ProfileRef>): Promise<undefined> {
  if (!(await deleteProfileRow(ctx.services.pool, profileKey(ctx, input)))) throw notFound('Profile');
}

/**
 * Makes a profile the only active one of the instance, or deactivates it (`active: false`). Applies to calls that start
 * from now on. Throws AppError 404.
 */
export async function setActive(ctx: Context, input: z.output<typeof SetActiveInput>): Promise<ProfileView> {
  const { prisma, clock } = ctx.services;
  const key = profileKey(ctx, input);
  if (!(await setActiveProfile(prisma, { ...key, at: new Date(clock.now()) }, input.active))) throw notFound('Profile');
  return describeProfile(ctx, key);
}

function profileKey(ctx: Context, ref: z.output<typeof ProfileRef>): ProfileKey {
  return { ...instanceKey(ctx, ref.id), profileId: ref.profile_id };
}

async function describeProfile(ctx: Context, key: ProfileKey): Promise<ProfileView> {
  const row = await findProfile(ctx.services.pool, key);
  if (row === null) throw notFound('Profile');
  return toProfile(row);
}

function nameTaken(name: string) {
  return conflict('name_taken', `The instance already has a profile named “${name}”.`);
}
