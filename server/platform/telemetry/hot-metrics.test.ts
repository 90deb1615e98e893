import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { parseSamples } from '../../testing/metrics.ts';
import { HotHistogram, hotCounter } from './hot-metrics.ts';

test('a histogram counts up to and including its bounds, cumulatively, and has sum and count', async () => {
  const registry = new Registry();
  const about = { name: 'took_seconds', help: 'Time.', labelNames: ['type'], bounds: [0.1, 1, 10] };
  const histogram = new HotHistogram(registry, about);
  const a = histogram.series({ type: 'a' });
  histogram.series({ type: 'b' });
  for (const value of [0, 0.1, 0.5, 1, 10, 11]) a.observe(value);
  const text = await registry.metrics();
  expect(text).toContain('# TYPE took_seconds histogram');
  expect(Object.fromEntries(parseSamples(text))).toEqual({
    'took_seconds_bucket{type="a",le="0.1"}': 2,
    'took_seconds_bucket{type="a",le="1"}': 4,
    'took_seconds_bucket{type="a",le="10"}': 5,
    'took_seconds_bucket{type="a",le="+Inf"}': 6,
    'took_seconds_sum{type="a"}': 22.6,
    'took_seconds_count{type="a"}': 6,
    'took_seconds_bucket{type="b",le="0.1"}': 0,
    'took_seconds_bucket{type="b",le="1"}': 0,
    'took_seconds_bucket{type="b",le="10"}': 0,
    'took_seconds_bucket{type="b",le="+Inf"}': 0,
    'took_seconds_sum{type="b"}': 0,
    'took_seconds_count{type="b"}': 0,
  });
});

test('a counter shows the total, the same at each scrape until more is added', async () => {
  const registry = new Registry();
  const series = hotCounter(registry, { name: 'seen_total', help: 'Seen.', labelNames: ['kind'] });
  const [a, b] = [series({ kind: 'a' }), series({ kind: 'b' })];
  a.count += 2;
  const readSamples = async () => Object.fromEntries(parseSamples(await registry.metrics()));
  expect(await readSamples()).toEqual({ 'seen_total{kind="a"}': 2, 'seen_total{kind="b"}': 0 });
  b.count += 1;
  expect(await readSamples()).toEqual({ 'seen_total{kind="a"}': 2, 'seen_total{kind="b"}': 1 });
});
