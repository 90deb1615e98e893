import { z } from 'zod';
import { optionalHttpUrl } from '../setting-types.ts';
import { samplerNames, type TracingSettings } from './tracing.ts';

/** OpenTelemetry's own names and meanings; its exporter reads further OTEL_EXPORTER_OTLP_* (headers, certificates) itself. */
export const tracingSchema = z.object({
  /**
   * The address of a collector; traces go to `/v1/traces` there. If neither this nor the next one is set, nothing is
   * traced.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalHttpUrl,
  /** The address for traces alone, used unchanged. */
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optionalHttpUrl,
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false'),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
  OTEL_SERVICE_NAME: z.string().min(1).default('baton'),
  OTEL_TRACES_SAMPLER: z.enum(samplerNames).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
});

/** Returns the settings of tracing; null if nothing is traced. */
export function tracingSettings(env: z.output<typeof tracingSchema>): TracingSettings | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = env;
  if (env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return null;
  const url = traces ?? (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`);
  if (url === undefined) return null;
  return {
    url,
    serviceName: env.OTEL_SERVICE_NAME,
    sampler: env.OTEL_TRACES_SAMPLER,
    ratio: env.OTEL_TRACES_SAMPLER_ARG,
  };
}
