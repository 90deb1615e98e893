import { type DestinationStream, pino } from 'pino';
import type { Json } from './json.ts';
import { redactorsInUse } from './secrets/in-use.ts';
import { traceIdOf } from './telemetry/trace-context.ts';

export type Logger = pino.Logger;

/** Names under which credentials stand, by how they end: `set-cookie`, `access_token`, `signingSecret`, `x-service-signature`. */
const secretName =
  /(?:authorization|bearer|signature|verifier|cookie|passw(?:or)?d|token|secret(?:[-_]?id)?|credential|(?:api|master|private|access)[-_]?key)s?$/i;
const REDACTED = '[redacted]';
/** A line is not a place for anything deeper; it also ends cycles. */
const DEEPEST = 8;

/**
 * Structured logs on standard output (docs/observability.md). Credentials are cut out by name wherever they stand, so that a
 * careless `logger.info({ headers })` leaks nothing, and by value while they are in use: messages and stacks of libraries quote them. `traces`: a line about a run also names its trace.
 */
export function createLogger(
  level: string,
  { traces = false, destination }: { traces?: boolean; destination?: DestinationStream } = {},
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        log(fields) {
          const { run_id: runId } = fields;
          const traced = traces && typeof runId === 'string' ? { ...fields, trace_id: traceIdOf(runId) } : fields;
          return withoutSecrets(traced, 0) as Record<string, unknown>;
        },
      },
      hooks: { streamWrite: withoutSecretsInUse },
      serializers: { err: error => withoutSecrets(pino.stdSerializers.err(error), 0) },
    },
    destination,
  );
}

/** The finished line, however its text was made. */
function withoutSecretsInUse(line: string): string {
  const redactors = redactorsInUse();
  if (redactors.length === 0) return line;
  const parsed = JSON.parse(line) as Json;
  return `${JSON.stringify(redactors.reduce((value, redactor) => redactor.json(value), parsed))}\n`;
}

/** Plain objects and arrays are copied without their secrets; what has a class of its own is left to its serialiser. */
function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return '[too deep]';
  if (Array.isArray(value)) return value.map(item => withoutSecrets(item, depth + 1));
  if (depth > 0 && !isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      // A number is not a credential: `input_tokens` is a count.
      const secret = secretName.test(name) && (typeof field === 'string' || typeof field === 'object');
      return [name, secret && field !== null ? REDACTED : withoutSecrets(field, depth + 1)];
    }),
  );
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
