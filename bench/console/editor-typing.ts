import type { Locator, Page } from '@playwright/test';
import { layers } from '../graphs.ts';
import { percentile } from '../load.ts';
import type { Figures } from '../system/system.ts';
import { callerOf, inConsole } from './browser.ts';

const STEPS = 1_000;
const LAYERS = 50;
const WARM_UP_KEYS = 20;
const KEYS = 100;

/**
 * Measures the cost of a key while the name of a step is typed in the form of a workflow of 1,000 steps. Time: from the key's event until
 * the form shows it, rendered and laid out, without the wait for the next frame. CPU: all time of the page's thread, which includes the
 * graph, validation and saving.
 */
export const editorTyping = (): Promise<Figures> =>
  inConsole(async ({ page, server }) => {
    const graph = layers('condition', STEPS / LAYERS, LAYERS);
    const { id } = await callerOf(server)('POST', '/v1/workflows', { name: 'Large', graph });
    await page.goto(`${server.url}/workflows/${String(id)}?step=${graph.steps[0]?.id ?? ''}`);
    await page.getByRole('region', { name: 'Graph of the draft' }).locator('[data-step]').first().waitFor();
    const name = page.getByRole('textbox', { name: 'Name' });
    await typeKeys(page, name, WARM_UP_KEYS);
    const cpu = await cpuClock(page);
    const before = await cpu();
    const keys = (await typeKeys(page, name, KEYS)).sort((a, b) => a - b);
    return {
      'p50 ms a key': percentile(keys, 0.5),
      'p95 ms a key': percentile(keys, 0.95),
      'CPU ms a key': ((await cpu()) - before) / KEYS,
    };
  });

/** Returns a function that reads the CPU time of the page's thread in ms, which other processes do not lengthen. */
async function cpuClock(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
  };
}

/** Types `count` keys one after the other; returns the cost of each key for the page's thread, in ms. */
async function typeKeys(page: Page, field: Locator, count: number): Promise<number[]> {
  await field.focus();
  const costs = await page.evaluateHandle(recordKeys);
  for (let n = 0; n < count; n += 1) await field.press('abcdefghij'.charAt(n % 10));
  await page.waitForFunction(({ recorded, wanted }) => recorded.length >= wanted, { recorded: costs, wanted: count });
  return costs.jsonValue();
}

/** Runs in the page: returns a list to which each later key adds its cost for the page's thread, in ms. */
function recordKeys(): number[] {
  const costs: number[] = [];
  let from = 0;
  window.addEventListener(
    'keydown',
    () => {
      from = performance.now();
    },
    true,
  );
  window.addEventListener(
    'input',
    () => {
      const { port1, port2 } = new MessageChannel();
      // React renders what is typed before the browser takes the next task.
      port1.onmessage = () => {
        document.body.getBoundingClientRect();
        costs.push(performance.now() - from);
      };
      port2.postMessage(null);
    },
    true,
  );
  return costs;
}
