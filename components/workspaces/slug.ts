/** The API's pattern of a workspace's slug. */
const SLUG_PATTERN = '[a-z0-9]([a-z0-9\\-]{0,61}[a-z0-9])?';
export const MAX_SLUG_LENGTH = 63;
export const SLUG_HINT =
  'Lowercase letters, digits and hyphens. Identifies the workspace in API calls and never changes.';

const slug = new RegExp(`^${SLUG_PATTERN}$`);

/** Returns true if the API would accept the slug. */
export const isSlug = (text: string): boolean => slug.test(text);

/** Returns a slug for a name: "Zürich & Söhne GmbH" becomes "zurich-sohne-gmbh". Empty if the name contains no usable character. */
export function suggestSlug(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/^-+|-+$/g, '');
}
