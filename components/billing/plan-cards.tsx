'use client';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePermissions } from '../session/session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { creditsInWords } from '../ui/credits.tsx';
import { formatPrice } from '../ui/money.ts';
import { type PlanAction, planActions } from './plan-actions.ts';
import { cancelLabel } from './subscription-card.tsx';
import type { BillingStatus, Plan } from './wire.ts';
import { formatDate, intervalText, trialText } from './words.ts';

const labels: Record<PlanAction, (plan: Plan, status: BillingStatus) => string> = {
  trial: () => 'Start trial',
  subscribe: (plan, { status, pending_plan_code }) =>
    status === 'incomplete' && pending_plan_code === plan.plan_code ? 'Finish payment' : 'Subscribe',
  change: plan => `Change to ${plan.product_name}`,
  convert: () => 'Pay now',
  cancel: (plan, status) => (plan.amount === 0 ? `Go back to ${plan.product_name}` : cancelLabel(status)),
  keep: plan => `Keep ${plan.product_name}`,
};

type Props = {
  plans: readonly Plan[];
  status: BillingStatus;
  onAct: (action: PlanAction, plan: Plan) => void;
};

/** Every plan for sale, with its possible actions. */
export function PlanCards({ plans, status, onAct }: Props) {
  const { isAdmin } = usePermissions();
  const current = plans.find(plan => plan.plan_code === status.plan_code);
  return (
    <section aria-labelledby="plans" className="flex flex-col gap-3">
      <div>
        <h2 id="plans" className="text-base font-semibold">
          Plans
        </h2>
        {isAdmin ? null : <p className="text-sm text-muted">An admin of the workspace can change the plan.</p>}
      </div>
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {plans.map(plan => (
          <PlanCard
            key={plan.plan_code}
            plan={plan}
            status={status}
            actions={isAdmin ? planActions(plan, status, current) : []}
            onAct={onAct}
          />
        ))}
      </ul>
    </section>
  );
}

function PlanCard({
  plan,
  status,
  actions,
  onAct,
}: {
  plan: Plan;
  status: BillingStatus;
  actions: PlanAction[];
  onAct: Props['onAct'];
}) {
  const current = plan.plan_code === status.plan_code;
  return (
    <li
      aria-current={current || undefined}
      className={cx('flex flex-col gap-3 rounded-lg border bg-surface p-4 shadow-sm', current && 'border-accent')}
    >
      <div className="flex h-5 items-center justify-between gap-2">
        <h3 className="text-base font-semibold">{plan.product_name}</h3>
        <Mark plan={plan} status={status} />
      </div>
      <p>
        <span className="text-xl font-semibold tracking-tight tabular-nums">
          {formatPrice(plan.amount, plan.currency)}
        </span>
        <span className="text-sm text-muted"> / {intervalText(plan)}</span>
      </p>
      <ul className="flex flex-1 flex-col gap-1 text-sm">
        <Offer>
          {creditsInWords(plan.included_credits_granted)} each {intervalText(plan)}
        </Offer>
        {plan.self_serve_onboarding || current ? null : <Offer>Contact the operator of this service</Offer>}
        {plan.self_serve_onboarding && plan.trial_enabled && status.trial.available ? (
          <Offer>Trial: {trialText(plan)}</Offer>
        ) : null}
      </ul>
      <div className="flex min-h-8 flex-wrap gap-2">
        {actions.map((action, index) => (
          <Button
            key={action}
            variant={index === 0 && action !== 'cancel' ? 'primary' : 'secondary'}
            onClick={() => onAct(action, plan)}
          >
            {labels[action](plan, status)}
            {labels[action](plan, status).includes(plan.product_name) ? null : (
              <span className="sr-only"> {plan.product_name}</span>
            )}
          </Button>
        ))}
      </div>
    </li>
  );
}

function Mark({ plan, status }: { plan: Plan; status: BillingStatus }) {
  if (plan.plan_code === status.plan_code) return <Badge tone="accent">Current plan</Badge>;
  if (plan.plan_code === status.pending_plan_code && status.status === 'incomplete')
    return <Badge tone="warn">Waiting for confirmation</Badge>;
  if (plan.plan_code === status.pending_plan_code)
    return <Badge tone="info">From {formatDate(status.current_period_end)}</Badge>;
  return null;
}

function Offer({ children }: { children: ReactNode }) {
  return (
    <li className="flex items-start gap-1.5">
      <Check aria-hidden className="mt-0.5 size-3.5 shrink-0 text-ok" />
      <span>{children}</span>
    </li>
  );
}
