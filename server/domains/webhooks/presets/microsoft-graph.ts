import type { PresetRules } from './preset.ts';
import { secretUrlPreset } from './sent-secrets.ts';

/** Printable ASCII without angle brackets, so that no browser interprets the answer as a page, regardless of its type. */
const VALIDATION_TOKEN = /^[\x20-\x3b\x3d\x3f-\x7e]{1,1000}$/;

/**
 * Microsoft Graph: it signs nothing, so the secret is a part of the address. Before it sends changes, it sends a POST
 * with a `validationToken` in the query, which the answer must return as plain text.
 */
export const microsoftGraphPreset: PresetRules = {
  ...secretUrlPreset,
  acknowledge: ({ validationToken }) =>
    validationToken !== undefined && VALIDATION_TOKEN.test(validationToken) ? { text: validationToken } : null,
};
