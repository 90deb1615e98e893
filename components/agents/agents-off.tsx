import { Bot } from 'lucide-react';
import { Card } from '../ui/card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { EmptyState } from '../ui/states.tsx';

/** Replaces a page that needs agents in a deployment without agents. */
export function AgentsOff({ title }: { title: string }) {
  return (
    <Page>
      <PageHeader title={title} />
      <Card>
        <EmptyState icon={Bot} title="Agents are turned off">
          The operator of this deployment has turned agents off.
        </EmptyState>
      </Card>
    </Page>
  );
}
