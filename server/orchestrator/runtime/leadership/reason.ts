import { NoWriterError } from '../../../platform/postgres/writer-search.ts';
import { CannotLeadError } from './leadership.ts';

const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;
/** SQLSTATEs of a failed connection, and of a server that shuts down. */
const SESSION_ENDED = /^(?:08|57P)/;

/** Why a leadership ended, as shown by /readyz without authentication: nothing that the database or the driver said goes in here. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof CannotLeadError) return cause.message;
  if (cause instanceof NoWriterError) return cause.summary;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (!SQLSTATE.test(code) || SESSION_ENDED.test(code)) return 'The database cannot be reached, or does not answer.';
  if (code === '25006') return 'The database is read-only.';
  return `The database refuses what the orchestrator writes (SQLSTATE ${code}).`;
}
