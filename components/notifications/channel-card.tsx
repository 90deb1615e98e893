'use client';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Link } from '../ui/link.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { Switch } from '../ui/switch.tsx';
import { Table, Td, THead, Th, Tr } from '../ui/table.tsx';
import { type BrowserPermission, requestBrowserPermission, useBrowserPermission } from './browser-permission.ts';
import { TestButton } from './test-button.tsx';
import { type Channel, type Kind, type Preferences, useChooseKinds, usePreferences } from './use-preferences.ts';

const kinds: readonly { kind: Kind; label: string; hint: string }[] = [
  { kind: 'task_waiting', label: 'A task is waiting', hint: 'For tasks that you can answer.' },
  {
    kind: 'run_failed',
    label: 'A run fails',
    hint: 'For workflows that you created, or whose latest version you published.',
  },
];
const channels: readonly { channel: Channel; label: string }[] = [
  { channel: 'browser', label: 'Browser' },
  { channel: 'email', label: 'Email' },
  { channel: 'webhook', label: 'Webhook' },
];

/** A switch for each kind and channel, and the requirements of each channel. */
export function ChannelCard() {
  const preferences = usePreferences();
  if (preferences.isError)
    return (
      <Card>
        <ErrorState error={preferences.error} onRetry={() => void preferences.refetch()} />
      </Card>
    );
  return (
    <Card title="Notify me when" description="Test runs send no notifications." flush>
      <Table label="Kinds and channels">
        <THead>
          <Th className="w-full">Event</Th>
          {channels.map(({ channel, label }) => (
            <Th key={channel}>{label}</Th>
          ))}
        </THead>
        <tbody>
          {kinds.map(({ kind, label, hint }) => (
            <Tr key={kind}>
              <Td className="min-w-32 py-2">
                <span className="block font-medium">{label}</span>
                <span className="block text-xs text-muted">{hint}</span>
              </Td>
              {channels.map(each => (
                <Td key={each.channel}>
                  {preferences.data ? (
                    <KindSwitch
                      preferences={preferences.data}
                      channel={each.channel}
                      kind={kind}
                      label={`${label}: ${each.label}`}
                    />
                  ) : (
                    <Skeleton className="h-5 w-9" />
                  )}
                </Td>
              ))}
            </Tr>
          ))}
        </tbody>
      </Table>
      {preferences.data ? <Requirements preferences={preferences.data} /> : <Skeleton className="m-4 h-4 w-64" />}
    </Card>
  );
}

function isUsable(preferences: Preferences, channel: Channel, permission: BrowserPermission): boolean {
  switch (channel) {
    case 'browser':
      return permission === 'granted' || permission === 'default' || preferences.browser.length > 0;
    case 'email':
      return preferences.email_address?.confirmed === true || preferences.email.length > 0;
    case 'webhook':
      return preferences.webhook_origin !== null || preferences.webhook.length > 0;
  }
}

function KindSwitch({
  preferences,
  channel,
  kind,
  label,
}: {
  preferences: Preferences;
  channel: Channel;
  kind: Kind;
  label: string;
}) {
  const choose = useChooseKinds();
  const permission = useBrowserPermission();
  const chosen = preferences[channel];
  const change = async (on: boolean) => {
    if (on && channel === 'browser' && (await requestBrowserPermission()) !== 'granted') return;
    choose.mutate({ [channel]: on ? [...chosen, kind] : chosen.filter(each => each !== kind) });
  };
  return (
    <Switch
      label={label}
      checked={chosen.includes(kind)}
      disabled={!isUsable(preferences, channel, permission)}
      onCheckedChange={on => void change(on)}
    />
  );
}

/** Shows where each channel delivers, or what it still requires. */
function Requirements({ preferences }: { preferences: Preferences }) {
  const { email_address: email, webhook_origin: origin } = preferences;
  return (
    <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2 border-t px-4 py-3 text-sm">
      <dt className="font-medium">Browser</dt>
      <dd className="text-muted">
        <BrowserState chosen={preferences.browser.length > 0} />
      </dd>
      <dt className="font-medium">Email</dt>
      <dd className="min-w-0 text-muted">
        {email === null ? 'This service does not send email.' : null}
        {email?.confirmed === false ? (
          <>
            Confirm {email.address} under{' '}
            <Link href="/settings/profile" className="text-accent-text hover:underline">
              Profile
            </Link>{' '}
            first.
          </>
        ) : null}
        {email?.confirmed ? (
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="truncate">{email.address}</span>
            <TestButton channel="email" />
          </span>
        ) : null}
      </dd>
      <dt className="font-medium">Webhook</dt>
      <dd className="truncate text-muted">{origin ?? 'Set one up below.'}</dd>
    </dl>
  );
}

const blocked = 'Blocked in this browser. Allow notifications from this site in the browser’s settings.';

function BrowserState({ chosen }: { chosen: boolean }) {
  const permission = useBrowserPermission();
  const [isAsking, setAsking] = useState(false);
  const requestPermission = async () => {
    setAsking(true);
    await requestBrowserPermission();
    setAsking(false);
  };
  switch (permission) {
    case 'granted':
      return 'While a tab of the console is open.';
    case 'denied':
      return blocked;
    case 'unsupported':
      return 'Not available in this browser: notifications need HTTPS.';
    case 'default':
      return chosen ? (
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          Not allowed in this browser yet.
          <Button size="sm" pending={isAsking} onClick={() => void requestPermission()}>
            Allow
          </Button>
        </span>
      ) : (
        'While a tab of the console is open. Your browser will ask for permission.'
      );
  }
}
