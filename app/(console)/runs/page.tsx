import type { Metadata } from 'next';
import { runListInput } from '@/components/runs/feed/read-run-filters.ts';
import { RunFeed } from '@/components/runs/feed/run-feed.tsx';
import { readerOf, readFirst } from '../read-first.ts';

export const metadata: Metadata = { title: 'Runs' };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function RunsPage({ searchParams }: Props) {
  const get = readerOf(await searchParams);
  // Days are in the browser's time zone, which the server does not know, so the browser reads filtered days.
  const first = get('from') || get('to') ? null : await readFirst('runs_list_tenant', runListInput(get));
  return <RunFeed first={first} />;
}
