import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const sheet = readFileSync('app/globals.css', 'utf8');
const declarationOf = (name: string): string | undefined => new RegExp(`--${name}: ([^;]+);`).exec(sheet)?.[1];

describe('the style sheet', () => {
  test.each([
    ['xs', '12px', '16px'],
    ['dense', '13px', '20px'],
    ['sm', '14px', '20px'],
    ['base', '14px', '20px'],
    ['lg', '16px', '24px'],
    ['xl', '24px', '32px'],
  ])('has the size %s of the type scale', (name, size, line) => {
    expect(declarationOf(`text-${name}`)).toBe(size);
    expect(declarationOf(`text-${name}--line-height`)).toBe(line);
  });

  test('has transitions of 150 ms', () => {
    expect(declarationOf('default-transition-duration')).toBe('150ms');
    expect(declarationOf('animate-in')).toMatch(/ 150ms /);
  });

  test('disables motion for people who prefer that, with higher specificity than libraries’ rules', () => {
    const [, reduced = ''] = sheet.split('@media (prefers-reduced-motion: reduce)');
    expect(reduced).toMatch(/^ \{\s*:root:root:root \*,\s*:root:root:root ::before,\s*:root:root:root ::after,/);
    expect(reduced).toContain('animation: none;');
    expect(reduced).toContain('transition: none;');
  });
});
