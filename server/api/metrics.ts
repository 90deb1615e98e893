import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Distribution, HotHistogram, hotCounter, type Tally } from '../platform/telemetry/hot-metrics.ts';

/** The process's metrics in Prometheus' format (docs/observability.md). */
export type Metrics = {
  /**
   * Counts an answered request; `operation` is a name of the registry, `page` or `none`, so the
   * number of series is limited.
   */
  request(operation: string, status: number, ms: number): void;
  sockets: { opened(): void; closed(code: number): void };
  render(): Promise<string>;
  contentType: string;
};

/**
 * Creates the metrics of the surfaces and of the process in `registry`, which may also contain metrics of other parts. Each
 * container has its own, so that two in a test do not collide. `leading` is called at each scrape.
 */
export function createMetrics(leading: () => boolean, registry = new Registry()): Metrics {
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
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
    request: requestMetrics(registry),
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

type OperationSeries = { duration: Distribution; answered: Map<number, Tally> };

function requestMetrics(registry: Registry): Metrics['request'] {
  const requests = hotCounter(registry, {
    name: 'baton_http_requests_total',
    help: 'Answered API requests.',
    labelNames: ['operation', 'status'],
  });
  const durations = new HotHistogram(registry, {
    name: 'baton_http_request_duration_seconds',
    help: 'Time from a request to its answer.',
    labelNames: ['operation'],
    bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  });
  const operations = new Map<string, OperationSeries>();
  return (operation, status, ms) => {
    let series = operations.get(operation);
    if (series === undefined) {
      series = { duration: durations.series({ operation }), answered: new Map() };
      operations.set(operation, series);
    }
    series.duration.observe(ms / 1000);
    let answered = series.answered.get(status);
    if (answered === undefined) {
      answered = requests({ operation, status: String(status) });
      series.answered.set(status, answered);
    }
    answered.count += 1;
  };
}
