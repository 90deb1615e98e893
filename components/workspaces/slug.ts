/** The pattern of a workspace's slug, as the API has it. */
const SLUG_PATTERN = '[a-z0-9]([a-z0-9\\-]{0,61}[a-z0-9])?';
export const MAX_SLUG_LENGTH = 63;
export const SLUG_HINT =
  'Lowercase letters, digits and hyphens. Identifies the workspace in API calls and never changes.';

const slug = new RegExp(`^${SLUG_PATTERN}$`);

/** Whether the API would accept it. */
export const isSlug = (text: string): boolean => slug.test(text);

/** Suggests a slug for a name: "Zürich & Söhne GmbH" becomes "zurich-sohne-gmbh". Empty where nothing of the name can be in one. */
export function suggestSlug(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/^-+|-+$/g, '');
}
