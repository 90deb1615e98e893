import type { Locator, Page } from '@playwright/test';
import { expect, open, test } from '../fixtures/console.ts';

const WIDTH = 50;
const STEPS = 1_000;
const KEYS = 10;
/**
 * The maximum number of function calls per key, in all scripts of the page. A key takes up to 180,000, including drawing the canvas, which
 * a faster machine draws once for several keys. Checking for each step whether it could be connected takes millions.
 */
const MAX_CALLS_PER_KEY = 500_000;

/** Layers of steps, each of which waits for two of the previous layer. */
const steps = Array.from({ length: STEPS }, (_, index) => {
  const [layer, place] = [Math.floor(index / WIDTH), index % WIDTH];
  const before = (at: number) => `l${layer - 1}_${at % WIDTH}`;
  return {
    id: `l${layer}_${place}`,
    type: 'lua_script',
    script: 'return 1',
    ...(layer > 0 && { depends_on: [before(place), before(place + 1)] }),
  };
});

/**
 * Types in a field and returns how many functions the page called for each key until `isDrawn` holds. The number measures the page's work,
 * and is the same on a slow machine.
 */
async function callsForKeys(page: Page, field: Locator, isDrawn: (typed: string) => Promise<void>): Promise<number> {
  await field.focus();
  await expect(field).toBeFocused();
  const session = await page.context().newCDPSession(page);
  await session.send('Profiler.enable');
  await session.send('Profiler.startPreciseCoverage', { callCount: true });
  const typed = 'abcdefghij'.slice(0, KEYS);
  await page.keyboard.type(typed);
  await isDrawn(typed);
  const { result } = await session.send('Profiler.takePreciseCoverage');
  await session.send('Profiler.stopPreciseCoverage');
  await session.detach();
  const counts = result
    .filter(({ url }) => url.includes('/_next/'))
    .flatMap(({ functions }) => functions.map(({ ranges }) => ranges[0]?.count ?? 0));
  return counts.reduce((sum, count) => sum + count, 0) / KEYS;
}

test('a key typed in a graph of 1,000 steps calls a bounded number of functions', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Large', graph: { steps } });
  await open(member, `/workflows/${String(id)}?step=l0_0`);
  const node = member.getByRole('region', { name: 'Graph of the draft' }).locator('[data-step="l0_0"]');
  await expect(node).toBeVisible();
  const saved = member.getByText('Saved', { exact: true });
  await expect(saved).toBeVisible();

  const name = member.getByRole('textbox', { name: 'Name' });
  const inName = await callsForKeys(member, name, async typed => {
    await expect(name).toHaveValue(typed);
    await expect(node).toContainText(typed);
  });
  expect(inName).toBeLessThan(MAX_CALLS_PER_KEY);

  await expect(saved).toBeVisible();
  const script = member.getByRole('textbox', { name: 'Script' });
  const inScript = await callsForKeys(member, script, typed => expect(script).toContainText(typed));
  expect(inScript).toBeLessThan(MAX_CALLS_PER_KEY);
  await expect(saved).toBeVisible();
});
