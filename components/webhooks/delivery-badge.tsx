import { Ban, CircleAlert, CircleCheck, CopyCheck, type LucideIcon, ShieldX } from 'lucide-react';
import type { Outputs } from '../trpc/provider.tsx';
import { Badge, type Tone } from '../ui/badge.tsx';

export type Delivery = Outputs['webhooks_deliveries_list']['deliveries'][number];

const looks: Record<Delivery['outcome'], { label: string; tone: Tone; icon: LucideIcon }> = {
  accepted: { label: 'Accepted', tone: 'ok', icon: CircleCheck },
  duplicate: { label: 'Duplicate', tone: 'neutral', icon: CopyCheck },
  rejected: { label: 'Rejected', tone: 'warn', icon: Ban },
  unauthorized: { label: 'Unauthorized', tone: 'bad', icon: ShieldX },
  error: { label: 'Error', tone: 'bad', icon: CircleAlert },
};

/** The outcome of a delivery: an icon and a label, never only a color. */
export function DeliveryBadge({ outcome }: { outcome: Delivery['outcome'] }) {
  const { label, tone, icon: Icon } = looks[outcome];
  return (
    <Badge tone={tone} icon={<Icon aria-hidden className="size-3" />}>
      {label}
    </Badge>
  );
}
