import type { Metadata } from 'next';
import { AnalyticsPage } from '@/components/analytics/analytics-page.tsx';

export const metadata: Metadata = { title: 'Analytics' };

export default function Analytics() {
  return <AnalyticsPage />;
}
