import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The process's metrics in Prometheus' words; a registry of its own, so that two containers in a test do not collide. */
export type Metrics = {
  /** One answered request; `operation` is a name of the registry, `page` or `none`, so the number of series is bounded. */
  request(operation: string, status: number, ms: number): void;
  sockets: { opened(): void; closed(code: number): void };
  render(): Promise<string>;
  contentType: string;
};

/** `leading` is asked for at each scrape. */
export function createMetrics(leading: () => boolean): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Counter({
    name: 'baton_http_requests_total',
    help: 'Answered API requests.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'baton_http_request_duration_seconds',
    help: 'Time from a request to its answer.',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  const open = new Gauge({ name: 'baton_stream_sockets', help: 'Open event stream sockets.', registers });
  const closed = new Counter({
    name: 'baton_stream_sockets_closed_total',
    help: 'Closed event stream sockets.',
    labelNames: ['code'],
    registers,
  });
  new Gauge({
    name: 'baton_orchestrator_leading',
    help: '1 where this process runs the runs.',
    registers,
    collect() {
      this.set(leading() ? 1 : 0);
    },
  });
  return {
    request(operation, status, ms) {
      requests.inc({ operation, status });
      durations.observe({ operation }, ms / 1000);
    },
    sockets: {
      opened: () => open.inc(),
      closed(code) {
        open.dec();
        closed.inc({ code });
      },
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
