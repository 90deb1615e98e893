import type { PresetRules } from './preset.ts';
import { secretUrlPreset } from './sent-secrets.ts';

/** Printable ASCII without angle brackets: no browser would take the answer for a page, whatever its type. */
const VALIDATION_TOKEN = /^[\x20-\x3b\x3d\x3f-\x7e]{1,1000}$/;

/**
 * Microsoft Graph: it signs nothing, so the address has the secret. Before it sends changes, it posts a
 * `validationToken` in the query, which has to come back as plain text.
 */
export const microsoftGraphPreset: PresetRules = {
  ...secretUrlPreset,
  acknowledge: ({ validationToken }) =>
    validationToken !== undefined && VALIDATION_TOKEN.test(validationToken) ? { text: validationToken } : null,
};
