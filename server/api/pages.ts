import type { Services } from '../operation/services.ts';
import { healthz, readyz } from './health.ts';
import type { Metrics } from './metrics.ts';
import { describeApi } from './openapi.ts';
import type { Registry } from './registry.ts';
import type { Page } from './rest.ts';

/** Returns the routes that the API serves besides operations (docs/specification/http.md#service-endpoints). */
export function createPages(services: Services, registry: Registry, metrics: Metrics): ReadonlyMap<string, Page> {
  let description: string | undefined;
  const openapi: Page = {
    contentType: 'application/json; charset=utf-8',
    limited: true,
    async render() {
      description ??= JSON.stringify(describeApi(registry, services.config.http.url));
      return { status: 200, body: description };
    },
  };
  const { metricsToken } = services.config.http;
  const prometheus: Page = {
    contentType: metrics.contentType,
    limited: true,
    token: metricsToken ?? null,
    render: async () => ({ status: 200, body: await metrics.render() }),
  };
  return new Map([
    ['/healthz', healthz(services)],
    ['/readyz', readyz(services)],
    ['/metrics', prometheus],
    ['/v1/openapi.json', openapi],
  ]);
}
