import { defineConfig, devices } from '@playwright/test';

const executablePath = process.env.BATON_TEST_BROWSER;
/** The features that Playwright turns off by itself (its `chromiumSwitches`): the browser takes only the last list. */
const turnedOffByPlaywright = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'msForceBrowserSignIn',
  'msEdgeUpdateLaunchServicesPreferredVersion',
];
/**
 * The suggestions beneath the address bar, which nobody sees, are web pages themselves: the whole browser loads them for
 * every context, and that took more CPU than the first page of the console.
 */
const suggestions = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];
const browser = {
  ...devices['Desktop Chrome'],
  launchOptions: {
    executablePath,
    // A GPU that is imitated costs a seventh of the journeys' CPU. No page lives long enough to earn back what
    // optimizing its code costs, by either compiler (Maglev alone took a tenth of the pages' CPU). What was compiled for
    // one page is kept for the next one of the same process: otherwise each compiles the same code again, another tenth.
    args: [
      '--disable-gpu',
      '--js-flags=--no-opt --no-maglev --no-flush-bytecode',
      `--disable-features=${[...turnedOffByPlaywright, ...suggestions].join(',')}`,
    ],
    // Chromium's sandbox does not work as root, where containers run their tests.
    chromiumSandbox: process.getuid?.() !== 0,
  },
};

export default defineConfig({
  testDir: 'e2e/journeys',
  outputDir: 'test-results',
  globalSetup: './e2e/fixtures/journeys-setup.ts',
  // They share one server (e2e/fixtures/shared-console.ts), but for files that need another environment.
  // A third takes so much of two cores from the tests beside them that those go on alone for minutes, and then leave
  // a third of the machine idle.
  workers: 2,
  fullyParallel: false,
  // They end what hangs: on a machine that gives a quarter of its speed the longest take three minutes.
  timeout: 240_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  retries: 0,
  // A trace doubles the time of every test; `--trace on` makes one where it is wanted.
  // Nothing fades: halfway through a transition a colour has not the contrast it is meant to have, and axe would report it.
  use: { screenshot: 'only-on-failure', contextOptions: { reducedMotion: 'reduce' } },
  projects: [
    { name: 'desktop', use: { ...browser, viewport: { width: 1280, height: 800 } } },
    { name: 'phone', grep: /@phone/, use: { ...browser, viewport: { width: 390, height: 844 }, hasTouch: true } },
  ],
});
