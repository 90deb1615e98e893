import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { nodeFlags } from './node-flags.mjs';
import { watchNpm } from './npm.mjs';
import { ownNode, root, run, say } from './process.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Ctrl-C reaches the whole group and npm passes it on once more; the service must see it once. */
const SAME_SIGNAL_MS = 1000;
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** After serving for this long, a service counts as sound again: the count of deaths in a row restarts. */
const SOUND_MS = 600_000;
/** How many times a service that has never served is started before giving up. */
const MAX_UNSERVED = 5;

/** How long to wait before the start after the `deaths`-th death in a row. */
export function restartDelay(deaths) {
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (deaths - 1));
}

/** A service that has met a defect and still runs so long after it is killed. It kills itself sooner, unless its event loop is stuck. */
const DEFECT_MS = 20_000;

/**
 * Decides what follows the end of the service. `history` is `{ deaths, served }`: deaths in a row before this one, and
 * whether the service has ever served. `outcome` is `{ code, signal, servedMs, misconfigured }`; `servedMs` is
 * undefined if it never served. Returns the history for the next start, or undefined if there is none.
 */
export function afterEnd(history, outcome) {
  const { code, servedMs, misconfigured } = outcome;
  const served = history.served || servedMs !== undefined;
  if (code === 0 || misconfigured) return undefined;
  // Exit code 1 before ever serving is a start that was refused; it has said why.
  if (!served && (code === 1 || history.deaths + 1 >= MAX_UNSERVED)) return undefined;
  return { deaths: (servedMs ?? 0) >= SOUND_MS ? 1 : history.deaths + 1, served };
}

/** The time that a service gets to stop when its sources have changed: what it does not finish, the next one continues. */
const RELOAD_GRACE_MS = 500;

/**
 * Runs the service on our own Node until it ends in order, and again when it dies. Passes on a signal to us, and the
 * end of npm as SIGTERM. Resolves to the exit code. `watch` calls its argument when the sources have changed, and returns
 * how to end that: the service is then replaced, and one that has served and died waits for the next change.
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
    say(`npm's process ${pid} has ended: stopping the service …`);
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
        // Once this has ended, the data folder may be copied: no PostgreSQL of a killed service may be left.
        if (outcome.signal || history.deaths > 0 || (watch && outcome.code !== 0)) await stopDatabase(env);
        return outcome.code ?? 1;
      }
      history = next;
      const wait = restartDelay(history.deaths);
      say(`the service ${howItEnded(outcome)}; starting it again in ${wait / 1000} s`);
      await delay(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return await stopDatabase(env);
    }
  } finally {
    sources.unwatch();
    unwatch();
  }
}

const howItEnded = ({ code, signal }) => (signal ? `was killed by ${signal}` : `ended with exit code ${code}`);

/** Calls `stop` with each signal to us, once. */
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

/** The sources of the service, in development: ends the running one when they change. */
class Sources {
  #hasChanged = false;
  /** Tells who waits for a change. */
  #tell = () => undefined;

  constructor(watch, running) {
    this.unwatch = watch?.(() => this.#replace(running())) ?? (() => undefined);
  }

  #replace(child) {
    this.#hasChanged = true;
    this.#tell();
    if (!child) return;
    say('server/ has changed: starting the service again …');
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), RELOAD_GRACE_MS);
    child.once('exit', () => clearTimeout(killer));
  }

  /** Whether the sources changed while the service ran or, where it had served before it died, after that. */
  async changeAfter(outcome, hasServed, stopping) {
    if (!this.#hasChanged && (!hasServed || outcome.code === 0)) return false;
    if (!this.#hasChanged) {
      say(`the service ${howItEnded(outcome)}; it starts again when a file in server/ changes`);
      await new Promise(resolve => {
        this.#tell = resolve;
        stopping.addEventListener('abort', resolve, { once: true });
      });
    }
    const hasChanged = this.#hasChanged && !stopping.aborted;
    this.#hasChanged = false;
    return hasChanged;
  }
}

/** Runs the service once. It gets a process group of its own: Ctrl-C must reach it by way of us alone. */
function serve(args, env, started) {
  const child = spawn(ownNode, [...nodeFlags, ...args], {
    cwd: root,
    detached: process.platform !== 'win32',
    // By the channel the service learns that we were killed, and we learn how far it got.
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
