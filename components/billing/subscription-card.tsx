'use client';
import { CircleAlert, CircleCheck, CircleX, Clock, Hourglass, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePermissions } from '../session/session.tsx';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { creditsInWords } from '../ui/credits.tsx';
import { Link } from '../ui/link.tsx';
import { formatUtc, useNow } from '../ui/time.tsx';
import { Tooltip } from '../ui/tooltip.tsx';
import { currentActions, type PlanAction, planActions } from './plan-actions.ts';
import type { BillingStatus, Plan } from './wire.ts';
import { counted, daysLeft, discountText, formatDate, planPriceText } from './words.ts';

const looks: Record<BillingStatus['status'], { label: string; tone: Tone; icon: LucideIcon }> = {
  active: { label: 'Active', tone: 'ok', icon: CircleCheck },
  trialing: { label: 'Trial', tone: 'info', icon: Clock },
  past_due: { label: 'Payment due', tone: 'bad', icon: CircleAlert },
  incomplete: { label: 'Waiting for confirmation', tone: 'warn', icon: Hourglass },
  cancelled: { label: 'Cancelled', tone: 'neutral', icon: CircleX },
};

const buttons: Partial<Record<PlanAction, string>> = {
  trial: 'Start trial',
  convert: 'End trial and pay now',
  subscribe: 'Finish payment',
  keep: 'Keep plan',
};

/** Returns the label of the cancel button, for a trial, an unpaid order, or a plan. */
export function cancelLabel({ status }: BillingStatus): string {
  if (status === 'incomplete') return 'Discard order';
  return status === 'trialing' ? 'Cancel trial' : 'Cancel plan';
}

type Props = {
  status: BillingStatus;
  plans: readonly Plan[];
  /** `plan` is null if the current plan is no longer sold. */
  onAct: (action: PlanAction, plan: Plan | null) => void;
};

/** The plan of the workspace, with the next event and its time. */
export function SubscriptionCard({ status, plans, onAct }: Props) {
  const { isAdmin } = usePermissions();
  const plan = plans.find(each => each.plan_code === status.plan_code);
  const look = looks[status.status];
  const Icon = look.icon;
  // The plan that waits for its payment is not the current plan.
  const waiting = plans.find(each => each.plan_code === status.pending_plan_code);
  const about = status.status === 'incomplete' ? waiting : plan;
  const actions = !isAdmin
    ? []
    : status.status === 'incomplete' && waiting
      ? planActions(waiting, status, plan)
      : currentActions(status, plan);
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          {status.product_name}
          <Badge tone={look.tone} icon={<Icon aria-hidden className="size-3" />}>
            {look.label}
          </Badge>
        </span>
      }
    >
      <div className="flex flex-col gap-4">
        <Facts status={status} plan={plan} plans={plans} />
        {actions.length > 0 ? (
          <div className="flex flex-wrap gap-2">
            {actions.map(action => (
              <Button
                key={action}
                size="sm"
                variant={action === 'cancel' ? 'danger' : 'secondary'}
                onClick={() => onAct(action, about ?? null)}
              >
                {action === 'cancel' ? cancelLabel(status) : buttons[action]}
              </Button>
            ))}
          </div>
        ) : null}
      </div>
    </Card>
  );
}

function Facts({ status, plan, plans }: { status: BillingStatus; plan: Plan | undefined; plans: readonly Plan[] }) {
  const { trial, discount } = status;
  const next = plans.find(each => each.plan_code === status.pending_plan_code);
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2 text-sm">
      {plan ? <Fact name="Price">{planPriceText(plan)}</Fact> : null}
      {plan && plan.included_credits_granted > 0 ? (
        <Fact name="Included">{creditsInWords(plan.included_credits_granted)} each period</Fact>
      ) : null}
      {status.status === 'trialing' && trial.ends_at ? (
        <Fact name="Trial">
          <DaysLeft until={trial.ends_at} />, until <On at={trial.ends_at} />
        </Fact>
      ) : null}
      <Fact name="Next">
        <NextUp status={status} next={next} plan={plan} />
      </Fact>
      {discount ? (
        <Fact name="Discount">
          {discountText(discount)} <code className="text-xs text-muted">{discount.code}</code>
        </Fact>
      ) : null}
      {plan?.amount === 0 ? null : (
        <Fact name="Paid through">
          {status.provider === 'stripe' ? 'Stripe' : 'Invoice, confirmed by the operator of this service'}
        </Fact>
      )}
    </dl>
  );
}

/** Describes the end of the period, in a few words. */
function NextUp({ status, next, plan }: { status: BillingStatus; next: Plan | undefined; plan: Plan | undefined }) {
  const end = <On at={status.current_period_end} />;
  if (status.cancel_at_period_end) return <>Ends on {end}, then the free plan</>;
  if (status.pending_plan_code && status.status !== 'incomplete')
    return (
      <>
        {next?.product_name ?? status.pending_plan_code} from {end} on
      </>
    );
  switch (status.status) {
    case 'trialing':
      // Only a workspace with a stored card is charged without being asked again.
      return plan?.trial_requires_card && status.provider === 'stripe' ? (
        <>
          {planPriceText(plan)} from {end} on, unless you cancel
        </>
      ) : (
        <>The free plan from {end} on, unless you subscribe</>
      );
    case 'past_due':
      return (
        <>
          An invoice is open, and the plan ends if it is not paid: pay it under{' '}
          <Link href="/billing?tab=payments" className="text-accent-text underline">
            Payments
          </Link>
        </>
      );
    case 'incomplete':
      return <>{next?.product_name ?? 'The plan'} begins when it is confirmed</>;
    case 'cancelled':
      return <>No further payments</>;
    case 'active':
      return plan?.amount === 0 ? <>New credits on {end}</> : <>Renews on {end}</>;
  }
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** A day, with the exact instant on hover. */
export function On({ at }: { at: string }) {
  return (
    <Tooltip content={<span className="tabular-nums">{formatUtc(at)}</span>}>
      <time dateTime={at} className="whitespace-nowrap tabular-nums">
        {formatDate(at)}
      </time>
    </Tooltip>
  );
}

function DaysLeft({ until }: { until: string }) {
  const now = useNow();
  // The server has no current time: the days appear with the first tick in the browser.
  return <>{now === 0 ? 'Running' : `${counted(daysLeft(until, now), 'day')} left`}</>;
}
