/**
 * `npm start` and `npm run dev`: brings the checkout up to date and then supervises the server. Runs on any Node from 20 on, with nothing
 * installed; the server runs on the Node that npm installed.
 */
import { constants } from 'node:os';
import { readCommandLine, runScript } from './command-line.mjs';
import { watchNpm } from './npm.mjs';
import { build, generate, install } from './prepare.mjs';
import { endCommands, printLine } from './process.mjs';
import { supervise } from './supervise.mjs';
import { watchSources } from './watch-sources.mjs';

const development = process.argv.includes('--dev');

/** Ends this process, and an installation or a build in progress. */
function interrupt(signal) {
  endCommands();
  process.exit(128 + constants.signals[signal]);
}

async function readArguments() {
  if (!development)
    return readCommandLine('npm start --', 'Installs and builds what is missing, and serves (README.md).');
  const description = 'Installs what is missing, and serves with reloading of console and server (CONTRIBUTING.md).';
  return readCommandLine('npm run dev --', description, command => {
    command
      .addOption(command.createOption('--dev').hideHelp())
      .option('--inspect [address]', 'let a debugger attach; default: 127.0.0.1:9229');
  });
}

async function prepare() {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, interrupt);
  const unwatch = watchNpm(pid => {
    printLine(`npm's process ${pid} has ended: giving up the start`);
    interrupt('SIGTERM');
  });
  try {
    await install();
    const options = (await readArguments()).opts();
    await generate();
    if (!development) await build();
    return options;
  } finally {
    unwatch();
    for (const signal of signals) process.off(signal, interrupt);
  }
}

// The service continues when the reader of its output has gone.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
await runScript(async () => {
  const { inspect } = await prepare();
  const env = { NODE_ENV: development ? 'development' : 'production', NEXT_TELEMETRY_DISABLED: '1' };
  if (!development) return supervise(['bin/serve.mjs'], { env });
  const flags = inspect === undefined ? [] : [inspect === true ? '--inspect' : `--inspect=${inspect}`];
  // In development, a crash is not followed by a restart, so that it can be examined. A change of the sources restarts the service.
  return supervise([...flags, 'bin/serve.mjs'], { env, restart: false, watch: watchSources });
});
