'use client';
import { Page, PageHeader } from '../ui/page.tsx';
import { ChannelCard } from './channel-card.tsx';
import { RecentDeliveries } from './recent-deliveries.tsx';
import { WebhookCard } from './webhook-card.tsx';

/** Shows which notifications the user gets in this workspace, and how. */
export function Notifications() {
  return (
    <Page width="narrow">
      <PageHeader
        title="Notifications"
        description="Your notifications in this workspace. Only you can see or change these settings."
      />
      <div className="flex flex-col gap-6">
        <ChannelCard />
        <WebhookCard />
        <div>
          <h2 className="mb-2 text-base font-semibold">Recent notifications</h2>
          <RecentDeliveries />
        </div>
      </div>
    </Page>
  );
}
