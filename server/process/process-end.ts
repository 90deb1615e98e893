import type { Logger } from '../platform/logger.ts';
import { leave } from './leave.ts';

/** The time of an orderly stop beyond that of steps in flight. */
const STOP_GRACE_MS = 20_000;
/** The same after a defect, for every part: runs survive being cut off, and no request is served meanwhile. */
const DEFECT_GRACE_MS = 10_000;

export type ProcessEnd = {
  /** Stops everything in order. */
  stop(): Promise<void>;
  logger: Logger;
  /** The time that steps in flight get. */
  shutdownGraceMs: number;
  /** Called before the stop after a defect. */
  onDefect(): void;
};

/**
 * Ends the process on a signal (exit code 0) or an uncaught error (1): in order, and by SIGKILL if that takes too long. The
 * second signal ends it immediately.
 */
export function stopOnSignals({ stop, logger, shutdownGraceMs, onDefect }: ProcessEnd): void {
  let stopping = false;
  const end = (code: number, graceMs: number, signal?: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    killAfter(graceMs, logger);
    logger.info({ signal }, 'stopping');
    stop().then(
      () => leave(code),
      error => {
        logger.error({ err: error }, 'stopping failed');
        leave(1);
      },
    );
  };
  process.on('SIGINT', () => end(0, shutdownGraceMs + STOP_GRACE_MS, 'SIGINT'));
  process.on('SIGTERM', () => end(0, shutdownGraceMs + STOP_GRACE_MS, 'SIGTERM'));
  // Unhandled rejections also arrive here.
  process.on('uncaughtException', error => {
    onDefect();
    logger.fatal({ err: error }, 'a defect: the process ends; runs continue at the next start');
    end(1, DEFECT_GRACE_MS);
  });
}

/** SIGKILL, since `process.exit` waits for threads, which may hang in the file system. */
function killAfter(graceMs: number, logger: Logger): void {
  const timer = setTimeout(() => {
    logger.fatal('the process could not be stopped in order and is killed');
    process.kill(process.pid, 'SIGKILL');
  }, graceMs);
  timer.unref();
}
