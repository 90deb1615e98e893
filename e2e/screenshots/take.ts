import { mkdir, rm, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from '@playwright/test';
import { startFakeModel } from '../../bin/fake-model/server.ts';
import { generatePatToken } from '../../server/domains/identity/pats/token.ts';
import { freePort } from '../../server/platform/postgres/free-port.ts';
import { newDataDir, startServer, type TestServer } from '../fixtures/server.ts';
import { fillAssistants } from './assistants.ts';
import { createCall, fillInstance } from './instance.ts';
import { animateKill } from './kill-animation.ts';
import { publicViews, type View, viewsOf } from './views.ts';

/**
 * `npm run screenshots`: takes pictures of every page of the console, at the widths of a desktop and a phone, light and dark, and the
 * pictures of the README. Arguments are parts of the names of pictures: those alone are taken. bin/screenshots.mjs has built the console
 * and found a browser.
 */
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];
const THEMES = ['light', 'dark'] as const;
const ALL = new URL('../../screenshots/', import.meta.url);
const OF_README = new URL('../../docs/images/', import.meta.url);
/** The picture in the README is of a page as it opens on a desktop. */
const README_VIEW = 'run';

const only = process.argv.slice(2);
const wanted = (name: string) => only.length === 0 || only.some(part => name.includes(part));
const say = (line: string) => process.stdout.write(`${line}\n`);

/** The browser options of all pictures: nothing is animated, and times are in one time zone. */
const common = { reducedMotion: 'reduce', timezoneId: 'UTC', locale: 'en-US' } as const;

const dataDir = await newDataDir();
const env = {
  PORT: String(await freePort()),
  BATON_PAT: generatePatToken(),
  BATON_OWNER_PASSWORD: 'a password for pictures',
  BATON_SEED: 'example',
  BATON_DEMO_MCP: 'true',
  BATON_BILLING: 'metered',
  BATON_ENABLE_AGENTS: 'true',
  BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
};
const executablePath = process.env.BATON_TEST_BROWSER;
const model = await startFakeModel();
const browser = await chromium.launch({
  ...(executablePath && { executablePath }),
  chromiumSandbox: process.getuid?.() !== 0,
});
let server = await startServer({ env, dataDir, readyWithinMs: 180_000 });
try {
  const call = createCall(server);
  const session = await signIn(browser, server);
  if (only.length === 0 || only.some(part => part !== 'kill')) {
    const shown = { ...(await fillInstance(call, server.url)), ...(await fillAssistants(call, model)) };
    const views = viewsOf(shown);
    for (const size of SIZES) {
      for (const theme of THEMES) {
        await takeAll(await browser.newContext({ viewport: size, colorScheme: theme, ...common }), publicViews);
        await takeAll(await browser.newContext({ viewport: size, colorScheme: theme, ...common, ...session }), views);
      }
    }
  }
  if (wanted('kill')) {
    const context = await browser.newContext({ viewport: { width: 1000, height: 740 }, ...common, ...session });
    const film = await animateKill(await context.newPage(), server, call, env);
    server = film.server;
    await save(new URL('kill.png', OF_README), film.animation);
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
  await model.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function signIn(on: Browser, { url, email, password }: TestServer) {
  const context = await on.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/workflows/);
  const storageState = await context.storageState();
  await context.close();
  return { storageState };
}

/** Takes the pictures of one size and theme; the errors that the browser reported meanwhile are printed. */
async function takeAll(context: BrowserContext, views: readonly View[]): Promise<void> {
  const page = await context.newPage();
  const width = page.viewportSize()?.width ?? 0;
  const theme = (await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)) ? 'dark' : 'light';
  for (const { name, path, act } of views.filter(view => wanted(view.name))) {
    const errors: string[] = [];
    const note = (text: string) => void errors.push(text);
    page.on('pageerror', error => note(String(error)));
    page.on('console', message => message.type() === 'error' && note(message.text()));
    await page.goto(server.url + path);
    await settled(page);
    await act?.(page);
    await settled(page);
    const isReadme = name === README_VIEW && width === 1280 && theme === 'light';
    await save(new URL(`${name}-${width}-${theme}.png`, ALL), await page.screenshot({ fullPage: true }));
    if (isReadme) await save(new URL(`${name}.png`, OF_README), await page.screenshot());
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (sideways > 0) say(`  ${name} at ${width}: scrolls sideways by ${sideways} px`);
    for (const error of errors) say(`  ${name} at ${width}: ${error}`);
    page.removeAllListeners();
  }
  await context.close();
}

/** Waits until the page shows what it came to show. */
async function settled(page: Page): Promise<void> {
  await page.getByRole('heading').first().waitFor();
  await page.waitForFunction(() => document.querySelector('[data-skeleton]') === null);
  await page.waitForLoadState('networkidle', { timeout: 1_500 }).catch(() => undefined);
  await page.evaluate(() => document.fonts.ready);
}

async function save(file: URL, picture: Buffer): Promise<void> {
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, picture);
  say(`${relative(process.cwd(), fileURLToPath(file))}  ${Math.ceil(picture.length / 1024)} KiB`);
}
