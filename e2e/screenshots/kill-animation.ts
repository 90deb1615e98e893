import type { Page } from '@playwright/test';
import { startServer, type TestServer } from '../fixtures/server.ts';
import { animatePng, type Frame } from './animated-png.ts';
import { type Call, start } from './instance.ts';

/** For how long a picture is shown, and in how much time one is taken: waiting is shown faster than it is. */
const FRAME_MS = 400;
const PAUSE_MS = 300;
const LONG_PAUSE_MS = 1_100;
/** The last picture stays for a while before the animation repeats. */
const LAST_FRAME_MS = 3_000;

const wait = (seconds: number, id: string, name: string, ...depends_on: string[]) => ({
  id,
  type: 'wait',
  name,
  seconds,
  depends_on,
});
const script = (id: string, name: string, ...depends_on: string[]) => ({
  id,
  type: 'lua_script',
  name,
  script: 'return 1',
  depends_on,
});

/** A run that takes some seconds: it reads, waits and sums up. */
const steps = [
  script('orders', 'Read the orders'),
  wait(6, 'stock', 'Wait for the stock', 'orders'),
  wait(8, 'carrier', 'Wait for the carrier', 'orders'),
  script('parcels', 'Make up the parcels', 'stock', 'carrier'),
  wait(6, 'pickup', 'Wait for the pickup', 'parcels'),
  wait(5, 'delivery', 'Wait for the delivery', 'pickup'),
  script('report', 'Report', 'delivery'),
];

/**
 * Returns an animation of a run whose server is killed with SIGKILL in the middle and started again, while the page stays open. Returns
 * the server that was started too.
 */
export async function animateKill(
  page: Page,
  server: TestServer,
  call: Call,
  env: Record<string, string>,
): Promise<{ animation: Buffer; server: TestServer }> {
  const { id } = await call('POST', '/v1/workflows', { name: 'Ship parcels', graph: { steps } });
  await call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First version' });
  const film = new Film(page);
  await page.goto(server.url + (await start(call, String(id), {})));
  await page.locator('[data-step="stock"]').waitFor();
  await film.roll('$ npm start', 2);
  await server.kill();
  await film.roll(`$ kill -9 ${server.pid}`, 1);
  const lost = page.getByText('The connection was lost');
  await lost.waitFor();
  await film.roll(`$ kill -9 ${server.pid}`, 2);
  const starting = startServer({ env, dataDir: server.dataDir });
  await film.rollUntil('$ npm start', async () => !(await lost.isVisible()));
  const ended = page.getByRole('heading', { level: 1 }).filter({ hasText: 'Completed' });
  await film.rollUntil('$ npm start', () => ended.isVisible());
  film.end();
  return { animation: animatePng(film.frames), server: await starting };
}

/** The pictures of a page, in each of which the command that was given last stands below. A picture that shows nothing new prolongs the one before. */
class Film {
  readonly frames: Frame[] = [];
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async roll(command: string, count: number): Promise<void> {
    for (let taken = 0; taken < count; taken += 1) await this.#take(command);
  }

  async rollUntil(command: string, isSeen: () => Promise<boolean>): Promise<void> {
    while (!(await isSeen())) await this.#take(command, LONG_PAUSE_MS);
    await this.#take(command);
  }

  /** Keeps the last picture for a while. */
  end(): void {
    const last = this.frames.at(-1);
    if (last !== undefined) last.ms = LAST_FRAME_MS;
  }

  async #take(command: string, pauseMs = PAUSE_MS): Promise<void> {
    await this.#page.evaluate(showCommand, command);
    const png = await this.#page.screenshot({ animations: 'disabled' });
    const before = this.frames.at(-1);
    if (before?.png.equals(png)) before.ms += FRAME_MS;
    else this.frames.push({ png, ms: FRAME_MS });
    await this.#page.waitForTimeout(pauseMs);
  }
}

/** Runs in the page. */
function showCommand(command: string): void {
  const id = 'command-of-the-animation';
  const line = document.getElementById(id) ?? document.body.appendChild(document.createElement('div'));
  line.id = id;
  line.textContent = command;
  line.style.cssText =
    'position:fixed;inset:auto 0 0 0;z-index:9;padding:10px 24px;background:#111827;color:#f9fafb;font:15px ui-monospace,monospace';
}
