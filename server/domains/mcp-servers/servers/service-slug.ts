const MAX_LENGTH = 60;

/**
 * Returns `service`: the name in lower-case ASCII letters, digits and single hyphens, at most 60;
 * `server` if nothing is left of it.
 */
export function serviceSlug(name: string): string {
  const ascii = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = ascii
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'server' : slug;
}

/** Returns the slug itself, or the slug with the smallest suffix from `-2` on that is not taken. */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug;
  let number = 2;
  while (taken.has(`${slug}-${number}`)) number++;
  return `${slug}-${number}`;
}
