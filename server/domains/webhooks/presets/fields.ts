import { type ErrorDetail, invalid } from '../../../platform/errors.ts';
import type { PresetName } from './catalog.ts';

type Fields = { username: string | null; requireTimestamp: boolean };

/** Throws AppError 422 for fields that the preset does not have, or that it requires and that are missing. */
export function requirePresetFields(preset: PresetName, { username, requireTimestamp }: Fields): void {
  const details: ErrorDetail[] = [];
  if (preset === 'basic' && username === null) {
    details.push({ path: 'username', message: 'is required for the preset basic' });
  }
  if (preset !== 'basic' && username !== null) {
    details.push({ path: 'username', message: 'is only for the preset basic' });
  }
  if (preset !== 'baton' && requireTimestamp) {
    details.push({
      path: 'require_timestamp',
      message: 'is only for the preset baton; the sender decides what it signs',
    });
  }
  if (details.length > 0) throw invalid('The fields do not fit the preset.', details);
}

/**
 * Throws AppError 422 `automation_required` for a preset whose senders cannot send a token, if the webhook stores none.
 */
export function requireAutomation(preset: PresetName, automationPatId: string | null): void {
  if (preset === 'baton' || automationPatId !== null) return;
  const detail = { path: 'automation_pat_id', message: 'is required: the sender cannot send a token of its own' };
  throw invalid('This preset needs an automation token.', [detail], 'automation_required');
}
