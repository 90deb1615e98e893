import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { ownNode, printLine, root, run } from './process.mjs';

const commands = [
  // Has no windows: with it, the journeys take three quarters of the CPU of the full browser.
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

const onPath = names =>
  (process.env.PATH ?? '').split(delimiter).flatMap(folder => names.map(name => join(folder, name)));

/**
 * Finds a browser for the journeys: `BATON_TEST_BROWSER`, an installed one, Playwright's own, and finally one from the package manager. As
 * root, the headless shell is installed even if there is another browser. Starts each candidate once to check that it works. Returns its
 * path; throws if there is none.
 */
export async function findBrowser() {
  const given = process.env.BATON_TEST_BROWSER;
  if (given) {
    if (existsSync(given) && (await canStart(given))) return given;
    throw new Error(`BATON_TEST_BROWSER=${given} does not start.`);
  }
  const [headless] = commands;
  const found = (await firstThatStarts(onPath([headless]))) ?? (await installBrowser(headless));
  if (found !== null) return found;
  const another = await firstThatStarts([...onPath(commands), ...places]);
  if (another !== null) return another;

  const { chromium } = createRequire(join(root, 'package.json'))('playwright-core');
  const own = chromium.executablePath();
  if (existsSync(own) && (await canStart(own))) return own;
  printLine('no browser found; fetching the one of Playwright …');
  const cli = join(root, 'node_modules', '@playwright', 'test', 'cli.js');
  const code = await run(ownNode, [cli, 'install', 'chromium'], { stdio: ['ignore', 'inherit', 'ignore'] });
  if (code === 0 && existsSync(own) && (await canStart(own))) return own;
  const last = await installBrowser('chromium');
  if (last !== null) return last;
  throw new Error('No browser for the journeys: install Chromium, Chrome or Edge, or name one in BATON_TEST_BROWSER.');
}

/** Installs a browser with apt-get. Returns its path, or null if that is not possible within two minutes. */
async function installBrowser(name) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get') || !existsSync('/usr/bin/timeout')) return null;
  printLine(`installing ${name} with apt-get …`);
  const quiet = { stdio: ['ignore', 'ignore', 'ignore'], env: { DEBIAN_FRONTEND: 'noninteractive' } };
  const aptGet = (...args) => run('/usr/bin/timeout', ['60', 'apt-get', '-q', ...args], quiet);
  const install = () => aptGet('install', '-y', '--no-install-recommends', name);
  // The lists of packages may be missing, or old.
  if ((await install()) !== 0 && (await aptGet('update')) === 0) await install();
  return firstThatStarts(onPath([name]));
}

async function firstThatStarts(paths) {
  for (const path of paths) if (existsSync(path) && (await canStart(path))) return path;
  return null;
}

async function canStart(executablePath) {
  const { chromium } = createRequire(join(root, 'package.json'))('playwright-core');
  try {
    const browser = await chromium.launch({ executablePath, chromiumSandbox: false, timeout: 20_000 });
    await browser.close();
    return true;
  } catch {
    return false;
  }
}
