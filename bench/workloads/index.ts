import { BenchService } from '../baton/service.ts';
import { workloads as httpWorkloads } from '../http/workloads.ts';
import type { Workload } from '../system/system.ts';
import { batonWorkloads } from './baton.ts';
import { comparedWorkloads } from './compared.ts';

const titles: Readonly<Record<string, string>> = {
  'rest-starts': 'starts through REST and their runs, 32 connections',
  'rest-starts-only': 'starts through REST of runs that wait, 32 connections',
  'rest-outputs': 'starts through REST that wait for the output of two steps, one at a time',
  'rest-reads': 'reads through REST, 32 connections',
  'ws-fanout': 'frames on 200 sockets of one workflow',
  chat: 'messages, 100 streams of 50 tokens/s, and reconnects to 200 KB',
};

/**
 * The workloads over HTTP start their own processes and PostgreSQL. Their size is set by BENCH_STARTS, not by `size`
 * (bench/http).
 */
const http: readonly Workload[] = httpWorkloads.map(({ name, run }) => ({
  name,
  title: titles[name] ?? name,
  size: 0,
  once: true,
  can: (system): system is BenchService => system instanceof BenchService,
  run: () => run(),
}));

/** The console in a real browser; each workload starts a separate server, and `size` is not used. */
const inBrowser: readonly Workload[] = [
  {
    name: 'run-page',
    title: 'page of a run of 2,000 steps and 20,000 events',
    // The import is dynamic, because the other workloads need no browser.
    run: async () => (await import('../console/run-page.ts')).runPage(),
  },
  {
    name: 'editor-typing',
    title: 'typing in the form of a step of 1,000',
    run: async () => (await import('../console/editor-typing.ts')).editorTyping(),
  },
].map(workload => ({
  ...workload,
  size: 0,
  once: true,
  can: (system): system is BenchService => system instanceof BenchService,
}));

/** Workloads that open the console, which must have been built. */
export const browserWorkloads: ReadonlySet<string> = new Set(inBrowser.map(({ name }) => name));

export const workloads: readonly Workload[] = [...comparedWorkloads, ...batonWorkloads, ...http, ...inBrowser];
