import type { Attributes, Context, Link, Span } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Logger } from '../logger.ts';

/** Where and how traces are sent; names and meaning as in OpenTelemetry's own environment variables. */
export type TracingSettings = {
  /** The address of OTLP over HTTP, `…/v1/traces`. */
  url: string;
  serviceName: string;
  sampler: SamplerName;
  /** 0..1, for the samplers that take a ratio. */
  ratio: number;
};

export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplerNames)[number];

/**
 * A span with given ids and times, so that what a later process reports about the same thing belongs to the same span.
 */
export type SpanStart = {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits. */
  spanId: string;
  /** Null: it is the root of its trace. */
  parent: Context | null;
  name: string;
  /** ms since the epoch. */
  at: number;
  attributes: Attributes;
  links?: Link[];
};

export type Tracing = {
  start(span: SpanStart): Span;
  /** Returns the context that makes `span` the parent of others. */
  contextOf(span: Span): Context;
  /** Sends the waiting spans, for at most CLOSE_MS. */
  close(): Promise<void>;
};

/**
 * Spans that wait to be sent; further ones are dropped. The SDK's own 2,048 are four batches, and the attempts that can end
 * at the same instant (2,560) would overflow them.
 */
const MAX_WAITING_SPANS = 8_192;
/** A receiver that does not answer must not delay the shutdown. */
const CLOSE_MS = 2_000;

/**
 * Starts OpenTelemetry's SDK with an exporter over HTTP. It is imported only here, so that a service without traces
 * never loads it (about 170 ms of CPU, 7 MiB). Nothing is registered globally. A failing receiver only loses spans,
 * and is logged once a minute.
 */
export async function startTracing(settings: TracingSettings, version: string, logger: Logger): Promise<Tracing> {
  const [api, sdk, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  api.diag.setLogger(quiet(logger), { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
  const given = { traceId: '', spanId: '' };
  const resource = resources
    .defaultResource()
    .merge(resources.detectResources({ detectors: [resources.resourceAttributesEnvDetector] }))
    .merge(resources.resourceFromAttributes({ 'service.name': settings.serviceName, 'service.version': version }));
  const exporter = new OTLPTraceExporter({ url: settings.url });
  const provider = new sdk.TracerProvider({
    resource,
    sampler: samplerOf(sdk, settings),
    // startSpan requests both immediately, before it returns.
    idGenerator: { generateTraceId: () => given.traceId, generateSpanId: () => given.spanId },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_WAITING_SPANS,
      }),
    ],
  });
  const tracer = provider.getTracer('baton', version);
  return {
    start({ traceId, spanId, parent, name, at, attributes, links = [] }) {
      given.traceId = traceId;
      given.spanId = spanId;
      return tracer.startSpan(name, { startTime: at, attributes, links }, parent ?? api.ROOT_CONTEXT);
    },
    contextOf: span => api.trace.setSpan(api.ROOT_CONTEXT, span),
    async close() {
      const timeout = Promise.withResolvers<void>();
      const timer = setTimeout(timeout.resolve, CLOSE_MS);
      await Promise.race([provider.shutdown().catch(() => undefined), timeout.promise]);
      clearTimeout(timer);
    },
  };
}

function samplerOf(sdk: typeof import('@opentelemetry/sdk-trace'), { sampler, ratio }: TracingSettings): Sampler {
  switch (sampler) {
    case 'always_on':
      return new sdk.AlwaysOnSampler();
    case 'always_off':
      return new sdk.AlwaysOffSampler();
    case 'parentbased_always_on':
      return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOffSampler() });
    case 'traceidratio':
      return new sdk.TraceIdRatioBasedSampler(ratio);
    case 'parentbased_traceidratio':
      return new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) });
  }
}

const QUIET_MS = 60_000;

/** The SDK logs each failed batch; once a minute is enough for an operator. */
function quiet(logger: Logger) {
  let saidAt = Number.NEGATIVE_INFINITY;
  const warn = (...said: unknown[]) => {
    const now = performance.now();
    if (now - saidAt < QUIET_MS) return;
    saidAt = now;
    // Only a short beginning is logged, because a receiver's answer may repeat the request, including headers.
    logger.warn({ problem: String(said[0]).slice(0, 200) }, 'traces could not be sent');
  };
  const silent = () => undefined;
  return { error: warn, warn, info: silent, debug: silent, verbose: silent };
}
