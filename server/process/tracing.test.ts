import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { startTestContainer } from '../testing/container.ts';
import { createTestPat, createTestTenant } from '../testing/identity.ts';
import { startCollector } from '../testing/otlp-collector.ts';
import { publishGraph, reached } from '../testing/runs.ts';

const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Runs a workflow of one step, asked for through REST with a trace context; answers with its events' first data. */
async function runOnce(env: Record<string, string>): Promise<{ run_id: string; started: Record<string, unknown> }> {
  const service = await startTestContainer(env);
  try {
    const { services } = service.container;
    const tenant = await createTestTenant(services, { slug: 'acme' });
    const { token } = await createTestPat(services, tenant.owner, ['workflow:run', 'workflow:read']);
    const id = await publishGraph(services, tenant.owner, {
      steps: [{ id: 'a', type: 'condition', expression: 'true' }],
    });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', traceparent: caller };
    const request = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(`${service.url}/v1/workflows/${id}${path}`, { headers, ...init });
      expect(response.status).toBe(200);
      return response.json();
    };
    const { run_id } = await request('/command', { method: 'POST', body: '{"command":"start"}' });
    await reached(services, tenant.owner, { id, runID: run_id });
    const { events } = await request(`/runs/${run_id}/events`);
    return { run_id, started: events[0].data };
  } finally {
    await service.close();
  }
}

test('a run started through REST is a separate trace, linked to the trace of the request', async () => {
  const collector = await startCollector();
  try {
    const { run_id, started } = await runOnce({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });
    expect(started.traceparent).toBe(caller);
    const root = collector.spans.find(({ name }) => name === 'run');
    expect(root).toMatchObject({ traceId: run_id.replaceAll('-', ''), parent: '' });
    expect(root?.links).toEqual(['0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331']);
    expect(collector.spans.map(({ name }) => name).sort()).toEqual(['condition a', 'run']);
  } finally {
    await collector.close();
  }
});

test.each<[string, Record<string, string>]>([
  ['without an endpoint', {}],
  ['when it is disabled', { OTEL_SDK_DISABLED: 'true' }],
  ['with no exporter', { OTEL_TRACES_EXPORTER: 'none' }],
])('nothing is sent or recorded %s', async (_, env) => {
  const collector = await startCollector();
  try {
    const configured = Object.keys(env).length > 0;
    const { started } = await runOnce(configured ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env } : {});
    expect(started).not.toHaveProperty('traceparent');
    expect(collector.requests).toBe(0);
  } finally {
    await collector.close();
  }
});

test('the SDK is loaded only if traces are configured', () => {
  const packagesRead = (tracing: unknown) => {
    const script = `
      import { registerHooks } from 'node:module';
      const read = new Set();
      registerHooks({ load(url, context, next) {
        const [, name] = /@opentelemetry\\/([\\w-]+)/.exec(url) ?? [];
        if (name) read.add(name);
        return next(url, context);
      } });
      const { startTelemetry } = await import(${JSON.stringify(new URL('./telemetry.ts', import.meta.url).href)});
      const { createLogger } = await import(${JSON.stringify(new URL('../platform/logger.ts', import.meta.url).href)});
      await startTelemetry({ tracing: ${JSON.stringify(tracing)} }, createLogger('silent'));
      process.stdout.write([...read].join(' '));
      process.exit(0);`;
    return execFileSync(process.execPath, ['--input-type=module', '-e', script]).toString().split(' ');
  };
  // prom-client brings OpenTelemetry's API, which does nothing by itself.
  expect(packagesRead(null)).toEqual(['api']);
  const settings = {
    url: 'http://127.0.0.1:1/',
    serviceName: 'x',
    sampler: 'always_on',
    ratio: 1,
  };
  expect(packagesRead(settings)).toContain('sdk-trace');
});
