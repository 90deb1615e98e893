import { describe, expect, it } from 'vitest';
import { TenantSlug } from '../../server/domains/identity/schemas.ts';
import { isSlug, suggestSlug } from './slug.ts';

describe('a suggested slug', () => {
  it.each([
    ['Acme', 'acme'],
    ['  Zürich & Söhne GmbH! ', 'zurich-sohne-gmbh'],
    ['a'.repeat(80), 'a'.repeat(63)],
    [`${'a'.repeat(62)} b`, 'a'.repeat(62)],
    ['日本', ''],
    ['--', ''],
  ])('of %j is %j', (name, slug) => expect(suggestSlug(name)).toBe(slug));
});

it.each(['a', 'a-b', 'a'.repeat(63), '', '-a', 'a-', 'A', 'a b', 'a'.repeat(64), 'ä'])(
  'isSlug(%j) agrees with the API',
  text => expect(isSlug(text)).toBe(TenantSlug.safeParse(text).success),
);
