import type { Page } from '@playwright/test';
import pg from 'pg';
import type { TestServer } from '../../e2e/fixtures/server.ts';
import { layers } from '../graphs.ts';
import { percentile } from '../load.ts';
import type { Figures } from '../system/system.ts';
import { callerOf, inConsole } from './browser.ts';

const LAYERS = 100;
const STEPS = 2_000;
const EVENTS = 20_000;
const LOADS = 5;
const SCROLL_MS = 3_000;

/**
 * Measures the page of a large run: the time from the navigation until the state, the steps and the graph are painted,
 * with the scripts in the browser's cache, and the frames while its lists scroll.
 */
export const runPage = (): Promise<Figures> =>
  inConsole(async ({ page, server, databaseUrl }) => measure(page, server, await largeRun(server, databaseUrl)));

/**
 * Creates a run of 2,000 steps with 20,000 events: the events of its steps, followed by log lines. Returns the path of
 * its page.
 */
async function largeRun(server: TestServer, databaseUrl: string): Promise<string> {
  const call = callerOf(server);
  const graph = layers('condition', STEPS / LAYERS, LAYERS);
  const { id } = await call('POST', '/v1/workflows', { name: 'Large', graph });
  await call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
  const params = { trigger_payload: { n: 1 } };
  const { run_id } = await call('POST', `/v1/workflows/${String(id)}/command`, { command: 'start', params });
  const path = `/workflows/${String(id)}/runs/${String(run_id)}`;
  while (!(await call('GET', `/v1${path}/summary`)).run_complete)
    await new Promise(resolve => setTimeout(resolve, 100));
  await addLogLines(databaseUrl, String(run_id), graph.steps[0]?.id ?? '');
  return path;
}

/** Extends the log of an ended run to 20,000 events. */
async function addLogLines(databaseUrl: string, runId: string, step: string): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query(
      `INSERT INTO run_events (run_id, seq, event_type, step_id, attempt, data, created_at)
       SELECT e.run_id, n, 'step_log', $3, 1, '{"lines":["a line that the step wrote"]}', e.at
         FROM (SELECT run_id, max(seq) AS last, max(created_at) AS at FROM run_events WHERE run_id = $1 GROUP BY run_id) e,
              generate_series(e.last + 1, $2::int) n`,
      [runId, EVENTS, step],
    );
    await database.query('UPDATE runs SET last_seq = $2 WHERE id = $1', [runId, EVENTS]);
  } finally {
    await database.end();
  }
}

async function measure(page: Page, server: TestServer, path: string): Promise<Figures> {
  const drawn: number[] = [];
  // The first load fills the caches of the browser and the server, and is not counted.
  for (let n = 0; n <= LOADS; n += 1) {
    await page.goto(`${server.url}${path}`, { waitUntil: 'commit' });
    const at = await page.evaluate(untilDrawn);
    if (n > 0) drawn.push(at);
  }
  drawn.sort((a, b) => a - b);
  const lists: number[] = [];
  for (const tab of ['Events', 'Timeline'])
    for (let n = 0; n <= LOADS; n += 1) {
      await page.goto(`${server.url}${path}?tab=${tab.toLowerCase()}`, { waitUntil: 'commit' });
      const at = await page.evaluate(untilListed, tab);
      if (n > 0) lists.push(at);
    }
  lists.sort((a, b) => a - b);
  const events = await scrollFrames(page, `${server.url}${path}?tab=events`, 'Events');
  const timeline = await scrollFrames(page, `${server.url}${path}?tab=timeline`, 'Timeline');
  return {
    'ms until drawn': percentile(drawn, 0.5),
    'ms until drawn, slowest': percentile(drawn, 1),
    'ms until its lists are drawn': percentile(lists, 0.5),
    'events: p95 ms a frame': percentile(events, 0.95),
    'timeline: p95 ms a frame': percentile(timeline, 0.95),
  };
}

/**
 * Executed in the page. Returns the time from its navigation until the state, the list of steps
 * and the graph are painted.
 */
function untilDrawn(): Promise<number> {
  const isDrawn = () =>
    document.querySelector('h1')?.textContent?.includes('Completed') === true &&
    document.querySelector('[aria-label="Steps"] li') !== null &&
    document.querySelector('[aria-label="Graph of the run"] [data-status]') !== null;
  return new Promise(resolve => {
    const check = () => {
      if (isDrawn()) requestAnimationFrame(() => resolve(performance.now()));
      else requestAnimationFrame(check);
    };
    check();
  });
}

/** Executed in the page. Returns the time from its navigation until the list of the open tab has its first rows. */
function untilListed(label: string): Promise<number> {
  return new Promise(resolve => {
    const check = () => {
      if (document.querySelector(`[aria-label="${label}"] li`) !== null)
        requestAnimationFrame(() => resolve(performance.now()));
      else requestAnimationFrame(check);
    };
    check();
  });
}

/** Returns the times between frames, ascending, while a list scrolls from one end towards the other. */
async function scrollFrames(page: Page, url: string, label: string): Promise<number[]> {
  await page.goto(url);
  const list = page.getByRole('region', { name: label, exact: true });
  await list.getByRole('listitem').first().waitFor();
  const frames = await list.evaluate(
    (element, ms) =>
      new Promise<number[]>(resolve => {
        const found: number[] = [];
        const end = performance.now() + ms;
        const direction = element.scrollTop > 0 ? -1 : 1;
        let before = performance.now();
        const frame = (now: number) => {
          found.push(now - before);
          before = now;
          element.scrollTop += direction * 120;
          if (now < end) requestAnimationFrame(frame);
          else resolve(found.slice(1));
        };
        requestAnimationFrame(frame);
      }),
    SCROLL_MS,
  );
  return frames.sort((a, b) => a - b);
}
