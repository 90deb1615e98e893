import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { freeSlug, serviceSlug } from './service-slug.ts';

describe('the slug of a name', () => {
  test.each([
    ['Demo', 'demo'],
    ['My  GitHub – Server!', 'my-github-server'],
    ['Größe & Über', 'gro-e-uber'],
    ['Café Noël', 'cafe-noel'],
    ['---', 'server'],
    ['日本語', 'server'],
    ['', 'server'],
    ['constructor', 'constructor'],
    [`${'a'.repeat(59)} b`, 'a'.repeat(59)],
    ['x'.repeat(200), 'x'.repeat(60)],
  ])('%s → %s', (name, slug) => {
    expect(serviceSlug(name)).toBe(slug);
  });

  it('is a slug for any name, and its own slug', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), name => {
        const slug = serviceSlug(name);
        expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(slug.length).toBeLessThanOrEqual(60);
        expect(serviceSlug(slug)).toBe(slug);
      }),
    );
  });
});

describe('a free slug', () => {
  it('is the slug, or has the smallest number from 2 on that is free', () => {
    expect(freeSlug('demo', new Set())).toBe('demo');
    expect(freeSlug('demo', new Set(['demo-2']))).toBe('demo');
    expect(freeSlug('demo', new Set(['demo', 'demo-3']))).toBe('demo-2');
    expect(freeSlug('demo', new Set(['demo', 'demo-2', 'demo-3']))).toBe('demo-4');
  });

  it('is never taken', () => {
    const taken = fc.uniqueArray(
      fc.oneof(
        fc.constant('a'),
        fc.nat(20).map(n => `a-${n}`),
      ),
    );
    fc.assert(
      fc.property(taken, names => {
        expect(names).not.toContain(freeSlug('a', new Set(names)));
      }),
    );
  });
});
