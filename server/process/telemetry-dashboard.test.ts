import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { parseSamples } from '../testing/metrics.ts';

const readDoc = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');
type Panel = { id: number; title: string; type: string; targets?: { expr: string; datasource: { uid: string } }[] };
type Dashboard = {
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string | { query: string } }[] };
};
const dashboard = JSON.parse(readDoc('grafana/baton.json')) as Dashboard;
const page = readDoc('observability.md');

let service: TestContainer;
/** Families as `/metrics` declares them, by name, with their type. */
let families: Map<string, string>;
beforeAll(async () => {
  const token = 'a-token-of-prometheus';
  service = await startTestContainer({ BATON_METRICS_TOKEN: token });
  const text = await (await fetch(`${service.url}/metrics`, { headers: { Authorization: `Bearer ${token}` } })).text();
  parseSamples(text);
  families = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
});
afterAll(() => service.close());

/** Names of metrics in PromQL: identifiers that are not functions, keywords, labels or label values. */
function metricsIn(promql: string): string[] {
  const bare = promql
    .replace(/"[^"]*"/g, '')
    .replace(/\b(by|without|on|ignoring) *\([^)]*\)/g, '')
    .replace(/\{[^}]*\}/g, '');
  return [...bare.matchAll(/\b(?:baton|nodejs|process)_\w+/g)].map(([name]) => name);
}

/** The family a sample belongs to: a histogram's have endings. */
function familyOf(sample: string): string | undefined {
  if (families.has(sample)) return sample;
  const base = sample.replace(/_(bucket|sum|count)$/, '');
  return families.get(base) === 'histogram' ? base : undefined;
}

const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const variables = dashboard.templating.list
  .filter(({ type }) => type === 'query')
  .map(({ query }) => (typeof query === 'string' ? query : query.query));
const alerts = [...page.matchAll(/^ +expr: (.*)$/gm)].map(([, expr = '']) => expr);

test('every metric of the dashboard, its variables and the alerts exists', () => {
  expect(expressions.length).toBeGreaterThan(40);
  expect(alerts.length).toBeGreaterThan(5);
  const used = [...expressions, ...variables, ...alerts].flatMap(metricsIn);
  expect(used.filter(name => familyOf(name) === undefined)).toEqual([]);
});

test('every metric of ours is on the dashboard and explained on the page, and the page explains no other', () => {
  const ours = [...families.keys()].filter(name => name.startsWith('baton_'));
  const shown = new Set([...expressions, ...variables].flatMap(metricsIn).map(familyOf));
  expect(ours.filter(name => !shown.has(name))).toEqual([]);
  const explained = new Set([...page.matchAll(/`(baton_\w+)/g)].map(([, name = '']) => name));
  expect(ours.filter(name => !explained.has(name))).toEqual([]);
  expect([...explained].filter(name => familyOf(name) === undefined)).toEqual([]);
});

test('names follow the conventions: counters end in _total, times are in seconds', () => {
  for (const [name, type] of families) {
    if (!name.startsWith('baton_')) continue;
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    expect(name, name).not.toMatch(/_(ms|milliseconds|kb|mb)(_|$)/);
  }
});

test('the dashboard can be imported anywhere: its datasource is a variable, ids are unique', () => {
  expect(dashboard.templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { targets = [] } of dashboard.panels)
    for (const { datasource } of targets) expect(datasource.uid).toBe('${' + 'datasource}');
});

test('every query is PromQL, by Prometheus’ own grammar', () => {
  const broken = (query: string) => {
    let errors = 0;
    parser.parse(query).iterate({
      enter(node) {
        if (node.type.isError) errors += 1;
      },
    });
    return errors > 0;
  };
  expect(broken('sum by (le (rate(x[5m]))')).toBe(true);
  // Grafana puts a duration in the place of its variable.
  const queries = [...expressions, ...alerts].map(query => query.replaceAll('$__rate_interval', '1m'));
  expect(queries.filter(broken)).toEqual([]);
});
