import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { ownNode, root, run, say } from './process.mjs';

const commands = [
  // Draws no windows: the journeys take two thirds of the CPU that they take in the whole browser.
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
  'microsoft-edge-stable',
];
const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

/**
 * Finds a browser for the journeys: `BATON_TEST_BROWSER`, an installed one, Playwright's own, and finally one from the
 * package manager. Starts each once to see that it works. Returns its path; throws if there is none.
 */
export async function findBrowser() {
  const given = process.env.BATON_TEST_BROWSER;
  const installed = () => [
    ...(process.env.PATH ?? '').split(delimiter).flatMap(folder => commands.map(command => join(folder, command))),
    ...places,
  ];
  for (const path of given ? [given] : installed()) if (existsSync(path) && (await starts(path))) return path;
  if (given) throw new Error(`BATON_TEST_BROWSER=${given} does not start.`);

  const { chromium } = createRequire(join(root, 'package.json'))('playwright-core');
  const own = chromium.executablePath();
  if (existsSync(own) && (await starts(own))) return own;
  say('no browser found; fetching the one of Playwright …');
  const cli = join(root, 'node_modules', '@playwright', 'test', 'cli.js');
  const code = await run(ownNode, [cli, 'install', 'chromium'], { stdio: ['ignore', 'inherit', 'ignore'] });
  if (code === 0 && existsSync(own) && (await starts(own))) return own;

  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say('installing chromium with apt-get …');
    const quiet = { stdio: ['ignore', 'ignore', 'inherit'], env: { DEBIAN_FRONTEND: 'noninteractive' } };
    await run('apt-get', ['update', '-q'], quiet);
    for (const name of ['chromium-headless-shell', 'chromium']) {
      await run('apt-get', ['install', '-y', '-q', '--no-install-recommends', name], quiet);
      for (const path of installed()) if (existsSync(path) && (await starts(path))) return path;
    }
  }
  throw new Error('No browser for the journeys: install Chromium, Chrome or Edge, or name one in BATON_TEST_BROWSER.');
}

async function starts(executablePath) {
  const { chromium } = createRequire(join(root, 'package.json'))('playwright-core');
  try {
    const browser = await chromium.launch({ executablePath, chromiumSandbox: false, timeout: 20_000 });
    await browser.close();
    return true;
  } catch {
    return false;
  }
}
