import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Value = { stringValue?: string; intValue?: number; boolValue?: boolean; doubleValue?: number };
type WireSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: { key: string; value: Value }[];
  events?: { name: string; timeUnixNano: string }[];
  links?: { traceId: string; spanId: string }[];
  status?: { code?: number; message?: string };
};

/** A span as it arrived; times in ms since the epoch. */
export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parent: string;
  name: string;
  from: number;
  to: number;
  attributes: Record<string, unknown>;
  events: string[];
  links: string[];
  error: string | null;
};

export type Collector = {
  url: string;
  /** All requests that arrived. */
  readonly requests: number;
  readonly spans: readonly ReceivedSpan[];
  /** Everything that was received, as text. */
  readonly text: string;
  /** Sets the answer to later requests. */
  answer(status: number): void;
  close(): Promise<void>;
};

/** Starts a receiver of OTLP over HTTP in JSON, like a collector. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  let requests = 0;
  let text = '';
  let status = 200;
  const server = createServer((request, response) => {
    requests += 1;
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      if (status === 200) {
        text += body;
        spans.push(...parseSpans(body));
      }
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    spans,
    get text() {
      return text;
    },
    answer(next) {
      status = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function parseSpans(body: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[] };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(received)));
}

const ms = (nanos: string): number => Number(BigInt(nanos) / 1_000_000n);

function received(span: WireSpan): ReceivedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parent: span.parentSpanId ?? '',
    name: span.name,
    from: ms(span.startTimeUnixNano),
    to: ms(span.endTimeUnixNano),
    attributes: Object.fromEntries((span.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]])),
    events: (span.events ?? []).map(({ name }) => name),
    links: (span.links ?? []).map(({ traceId, spanId }) => `${traceId}-${spanId}`),
    error: span.status?.code === 2 ? (span.status.message ?? '') : null,
  };
}
