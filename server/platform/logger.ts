import { pino } from 'pino';

export type Logger = pino.Logger;

/**
 * Structured logs on standard output. Credentials are cut out by key wherever they stand, so that a careless
 * `logger.info({ headers })` leaks nothing.
 */
export function createLogger(level: string): Logger {
  const secret = ['authorization', 'cookie', 'password', 'token', 'secret', 'credentials'];
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secret.flatMap(key => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
  });
}
