import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { nodeFlags } from './node-flags.mjs';
import { watchNpm } from './npm.mjs';
import { ownNode, printLine, root, run } from './process.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Ctrl-C reaches the whole process group, and npm also forwards it; the service must receive it once. */
const SAME_SIGNAL_MS = 1000;
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** After serving for this time, a service counts as stable, and the count of consecutive deaths is reset. */
const STABLE_MS = 600_000;
/** The number of starts of a service that never serves, before giving up. */
const MAX_UNSERVED = 5;

/** Returns the delay before the restart after the `deaths`-th consecutive death. */
export function restartDelay(deaths) {
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (deaths - 1));
}

/**
 * A service that has reported a defect is killed if it still runs after this time. It exits earlier itself, unless its
 * event loop is stuck.
 */
const DEFECT_MS = 20_000;

/**
 * Decides whether the service is restarted after it has ended. `history` is `{ deaths, served }`: the number of
 * consecutive deaths before this one, and whether the service has ever served. `outcome` is `{ code, signal, servedMs,
 * misconfigured }`; `servedMs` is undefined if it never served. Returns the history for the next start, or undefined if
 * the service is not started again.
 */
export function afterEnd(history, outcome) {
  const { code, servedMs, misconfigured } = outcome;
  const served = history.served || servedMs !== undefined;
  if (code === 0 || misconfigured) return undefined;
  // Exit code 1 before ever serving means a refused start, whose reason was printed.
  if (!served && (code === 1 || history.deaths + 1 >= MAX_UNSERVED)) return undefined;
  return { deaths: (servedMs ?? 0) >= STABLE_MS ? 1 : history.deaths + 1, served };
}

/** The time that a service gets to stop when its sources have changed. The next service continues its unfinished work. */
const RELOAD_GRACE_MS = 500;

/**
 * Runs the service with the installed Node until it ends cleanly, and restarts it when it dies. Forwards signals to
 * this process, and the end of npm as SIGTERM. Resolves to the exit code. `watch` calls its argument when the sources
 * have changed, and returns a function that ends the watch. A changed service is replaced, and one that has served and
 * died waits for the next change.
 */
export async function supervise(args, { env = {}, restart = true, watch } = {}) {
  let child;
  const stopping = new AbortController();
  const stop = signal => {
    stopping.abort();
    child?.kill(signal);
  };
  onSignals(stop);
  const unwatch = watchNpm(pid => {
    if (stopping.signal.aborted) return;
    printLine(`npm's process ${pid} has ended: stopping the service …`);
    stop('SIGTERM');
  });
  const sources = new Sources(watch, () => child);
  try {
    let history = { deaths: 0, served: false };
    for (;;) {
      const outcome = await serve(args, env, started => {
        child = started;
      });
      child = undefined;
      const hasServed = history.served || outcome.servedMs !== undefined;
      if (watch && !stopping.signal.aborted && (await sources.changeAfter(outcome, hasServed, stopping.signal))) {
        history = { deaths: 0, served: hasServed };
        continue;
      }
      const next = afterEnd(history, outcome);
      if (stopping.signal.aborted || !restart || next === undefined) {
        // After this process has ended, the data folder may be copied, so no PostgreSQL of a killed service may still
        // run.
        if (outcome.signal || history.deaths > 0 || (watch && outcome.code !== 0)) await stopDatabase(env);
        return outcome.code ?? 1;
      }
      history = next;
      const wait = restartDelay(history.deaths);
      printLine(`the service ${describeEnd(outcome)}; starting it again in ${wait / 1000} s`);
      await delay(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return await stopDatabase(env);
    }
  } finally {
    sources.unwatch();
    unwatch();
  }
}

const describeEnd = ({ code, signal }) => (signal ? `was killed by ${signal}` : `ended with exit code ${code}`);

/** Calls `stop` once per signal to this process. */
function onSignals(stop) {
  const last = new Map();
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      const now = Date.now();
      if (now - (last.get(signal) ?? 0) > SAME_SIGNAL_MS) stop(signal);
      last.set(signal, now);
    });
  }
}

/** The sources of the service, in development. Ends the running service when they change. */
class Sources {
  #hasChanged = false;
  /** Notifies the waiting caller of a change. */
  #notify = () => undefined;

  constructor(watch, running) {
    this.unwatch = watch?.(() => this.#replace(running())) ?? (() => undefined);
  }

  #replace(child) {
    this.#hasChanged = true;
    this.#notify();
    if (!child) return;
    printLine('server/ has changed: starting the service again …');
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), RELOAD_GRACE_MS);
    child.once('exit', () => clearTimeout(killer));
  }

  /** Returns whether the sources changed while the service ran. If the service had served before it died, also waits for a later change. */
  async changeAfter(outcome, hasServed, stopping) {
    if (!this.#hasChanged && (!hasServed || outcome.code === 0)) return false;
    if (!this.#hasChanged) {
      printLine(`the service ${describeEnd(outcome)}; it starts again when a file in server/ changes`);
      await new Promise(resolve => {
        this.#notify = resolve;
        stopping.addEventListener('abort', resolve, { once: true });
      });
    }
    const hasChanged = this.#hasChanged && !stopping.aborted;
    this.#hasChanged = false;
    return hasChanged;
  }
}

/** Runs the service once, in its own process group, because Ctrl-C must reach it only through this process. */
function serve(args, env, started) {
  const child = spawn(ownNode, [...nodeFlags, ...args], {
    cwd: root,
    detached: process.platform !== 'win32',
    // Through the channel, the service notices that this process was killed, and reports its progress to this process.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  started(child);
  let servingSince;
  let misconfigured = false;
  let killer;
  child.on('message', message => {
    if (message === 'defect') killer = setTimeout(() => child.kill('SIGKILL'), DEFECT_MS);
    if (message === 'serving') servingSince = performance.now();
    if (message === 'misconfigured') misconfigured = true;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(killer);
      const servedMs = servingSince === undefined ? undefined : performance.now() - servingSince;
      resolve({ code, signal, servedMs, misconfigured });
    });
  });
}

/** Ends the embedded PostgreSQL that a dead service left running. Resolves to the exit code. */
async function stopDatabase(env) {
  return run(ownNode, ['server/process/stop-database.ts'], { env });
}
