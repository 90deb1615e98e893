import { expect, test } from 'vitest';
import { isCollapsed, pageKindOf, readSidebarChoices, SIDEBAR_COOKIES } from './sidebar-choice.ts';

test.each([
  ['/workflows', 'page'],
  ['/workflows/0190c5f0-0000-7000-8000-000000000000', 'full-bleed'],
  ['/workflows/0190c5f0-0000-7000-8000-000000000000/runs/7', 'full-bleed'],
  ['/workflows/proposals', 'page'],
  ['/workflows/proposals/7', 'page'],
  ['/runs', 'page'],
  ['/agents/7', 'page'],
])('%s is a %s', (path, kind) => expect(pageKindOf(path)).toBe(kind));

const chosen = (cookies: Record<string, string>) => readSidebarChoices(name => cookies[name]);

test('only full-bleed pages start collapsed', () => {
  expect(isCollapsed(chosen({}), '/runs')).toBe(false);
  expect(isCollapsed(chosen({}), '/workflows/7')).toBe(true);
});

test('a choice applies only to pages of its kind', () => {
  const choices = chosen({ [SIDEBAR_COOKIES['full-bleed']]: 'open', [SIDEBAR_COOKIES.page]: 'collapsed' });
  expect(isCollapsed(choices, '/workflows/7')).toBe(false);
  expect(isCollapsed(choices, '/runs')).toBe(true);
  expect(isCollapsed(chosen({ [SIDEBAR_COOKIES['full-bleed']]: 'open' }), '/runs')).toBe(false);
});

test('other cookie values are ignored', () => {
  expect(isCollapsed(chosen({ [SIDEBAR_COOKIES.page]: 'toString' }), '/runs')).toBe(false);
  expect(isCollapsed(chosen({ [SIDEBAR_COOKIES['full-bleed']]: '' }), '/workflows/7')).toBe(true);
});
