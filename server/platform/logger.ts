import { type DestinationStream, pino } from 'pino';
import { hasPlainPrototype, type Json } from './json.ts';
import { redactorsInUse } from './secrets/in-use.ts';
import { traceIdOf } from './telemetry/trace-context.ts';

export type Logger = pino.Logger;

/** Endings of names of credentials: `set-cookie`, `access_token`, `signingSecret`, `x-service-signature`. */
const secretName =
  /(?:authorization|bearer|signature|verifier|cookie|passw(?:or)?d|token|secret(?:[-_]?id)?|credential|(?:api|master|private|access)[-_]?key)s?$/i;
const REDACTED = '[redacted]';
/** Deeper values are left out of a log line; the limit also ends cycles. */
const DEEPEST = 8;

/**
 * Creates a logger that writes structured logs to standard output (docs/observability.md). Credentials are removed by name at
 * every depth, so that a careless `logger.info({ headers })` leaks nothing, and by value while they are in use, because
 * messages and stacks of libraries quote them. `traces`: a line about a run also names its trace.
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

/** Redacts the finished line, however its text was produced. */
function withoutSecretsInUse(line: string): string {
  const redactors = redactorsInUse();
  if (redactors.length === 0) return line;
  const parsed = JSON.parse(line) as Json;
  return `${JSON.stringify(redactors.reduce((value, redactor) => redactor.json(value), parsed))}\n`;
}

/** Plain objects and arrays are copied without their secrets; instances of a class are left to their serializer. */
function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return '[too deep]';
  if (Array.isArray(value)) return value.map(item => withoutSecrets(item, depth + 1));
  if (depth > 0 && !hasPlainPrototype(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      // A number is not a credential: `input_tokens` is a count.
      const secret = secretName.test(name) && (typeof field === 'string' || typeof field === 'object');
      return [name, secret && field !== null ? REDACTED : withoutSecrets(field, depth + 1)];
    }),
  );
}
