'use client';
import { useQuery } from '@tanstack/react-query';
import { Send, Webhook as WebhookIcon } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { PRESETS } from '@/server/domains/webhooks/presets/catalog.ts';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { CopyField } from '../ui/copy.tsx';
import { Link } from '../ui/link.tsx';
import { Page, PageHeader, PageSkeleton } from '../ui/page.tsx';
import { ErrorState, NeedsContributor } from '../ui/states.tsx';
import { Switch } from '../ui/switch.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { ExampleTabs } from './example-tabs.tsx';
import { PresetStrength } from './preset-fields.tsx';
import { RotateSecretDialog } from './rotate-secret.tsx';
import { TestDeliveryDialog } from './test-delivery.tsx';
import { VerifyToken } from './verify-token.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import type { Webhook } from './webhook-form.tsx';
import { useSwitchWebhook, WebhookState } from './webhook-state.tsx';

const parent = { href: '/webhooks', label: 'Webhooks' };

/** One webhook: how to deliver to it, its deliveries, and its actions. */
export function WebhookPage({ id }: { id: string }) {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const query = useQuery(trpc.webhooks_get.queryOptions({ id }, { enabled: canWrite, refetchInterval: 10_000 }));
  if (!canWrite)
    return (
      <Page>
        <PageHeader title="Webhook" parent={parent} />
        <NeedsContributor icon={WebhookIcon} what="Webhooks" />
      </Page>
    );
  if (query.data) return <Loaded webhook={query.data} />;
  if (!query.isError) return <PageSkeleton />;
  return (
    <Page>
      <PageHeader title="Webhook" parent={parent} />
      <Card flush>
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      </Card>
    </Page>
  );
}

function Loaded({ webhook }: { webhook: Webhook }) {
  const [testing, setTesting] = useState(false);
  const turn = useSwitchWebhook();
  return (
    <Page>
      <PageHeader
        title={webhook.name}
        parent={parent}
        actions={
          <>
            <WebhookState enabled={webhook.enabled} />
            <Switch
              label="Accepts deliveries"
              checked={webhook.enabled}
              disabled={turn.isPending}
              onCheckedChange={enabled => turn.mutate({ id: webhook.id, enabled })}
            />
            <Button
              icon={<Send aria-hidden className="size-3.5" />}
              disabled={!webhook.enabled}
              onClick={() => setTesting(true)}
            >
              Test delivery
            </Button>
            <WebhookActions webhook={webhook} />
          </>
        }
      />
      <div className="mb-4 grid gap-4 lg:grid-cols-2">
        <Card title="Webhook" className="min-w-0">
          <Details webhook={webhook} />
        </Card>
        {webhook.preset === 'baton' ? (
          <Card title="Send one" className="min-w-0">
            <ExampleTabs url={webhook.ingress_url} />
          </Card>
        ) : (
          <Card title="Set up the sender" className="min-w-0">
            <SenderSetup webhook={webhook} />
          </Card>
        )}
      </div>
      <h2 className="mb-2 text-base font-semibold">Deliveries</h2>
      <DeliveryTable webhook={webhook} />
      {testing ? <TestDeliveryDialog webhook={webhook} onClose={() => setTesting(false)} /> : null}
    </Page>
  );
}

function Details({ webhook }: { webhook: Webhook }) {
  const { trigger_payload, use_run_setup_defaults } = webhook.extras;
  return (
    <div className="flex flex-col gap-3 text-sm">
      <CopyField label="Ingress URL" value={webhook.ingress_url} />
      {PRESETS[webhook.preset].secretInAddress ? (
        <p className="text-xs text-muted">
          A period and the secret follow this address. The full address was shown when the webhook was created. Rotate
          the secret to get a new one.
        </p>
      ) : null}
      <dl className="grid grid-cols-[minmax(0,auto)_minmax(0,1fr)] gap-x-4 gap-y-2">
        <Item label="Workflow">
          <Link href={`/workflows/${webhook.workflow_id}`} className="text-accent-text hover:underline">
            {webhook.workflow_name}
          </Link>
        </Item>
        <Item label="Authentication">
          {PRESETS[webhook.preset].label}
          <PresetStrength preset={webhook.preset} />
        </Item>
        {webhook.username === null ? null : (
          <Item label="Username">
            <code className="text-xs break-all">{webhook.username}</code>
          </Item>
        )}
        <Item label="Runs belong to">
          {webhook.automation_pat_id === null
            ? 'the user whose token delivers'
            : (webhook.automation_email ?? 'a deleted token')}
        </Item>
        {webhook.preset === 'baton' ? (
          <Item label="Timestamp">{webhook.require_timestamp ? 'required' : 'checked if present'}</Item>
        ) : null}
        <Item label="Saved defaults">{use_run_setup_defaults ? 'merged beneath' : 'not used'}</Item>
        <Item label="Old secret">
          {webhook.previous_secret_expires_at ? (
            <>
              accepted until <RelativeTime at={webhook.previous_secret_expires_at} />
            </>
          ) : (
            'not accepted'
          )}
        </Item>
        {trigger_payload ? (
          <Item label="Fixed payload">
            <code className="text-xs break-all">{JSON.stringify(trigger_payload)}</code>
          </Item>
        ) : null}
      </dl>
    </div>
  );
}

/** Explains the setup on the sender's side, and how to store the sender's secret here. */
function SenderSetup({ webhook }: { webhook: Webhook }) {
  const [storing, setStoring] = useState(false);
  const { secretHint, secretSource } = PRESETS[webhook.preset];
  return (
    <div className="flex flex-col items-start gap-3 text-sm">
      <p>{secretHint}</p>
      {webhook.has_secret ? null : (
        <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          The secret is not stored yet. Until then all deliveries are refused.
        </p>
      )}
      <p className="text-muted">The body becomes the run’s input. It can be JSON, form fields or text.</p>
      {secretSource === 'baton' ? null : (
        <Button onClick={() => setStoring(true)}>{webhook.has_secret ? 'Replace secret' : 'Store secret'}</Button>
      )}
      {PRESETS[webhook.preset].hasVerifyToken ? <VerifyToken webhook={webhook} /> : null}
      {storing ? <RotateSecretDialog webhook={webhook} onClose={() => setStoring(false)} /> : null}
    </div>
  );
}

function Item({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{label}</dt>
      <dd>{children}</dd>
    </>
  );
}
