import fc from 'fast-check';
import { expect, test } from 'vitest';
import { charge } from '../../../testing/billing/ledger.ts';
import { type BillingWorld, confirmPayments, createBillingWorld, DAY } from '../../../testing/billing/subscriptions.ts';
import { auditLedger } from '../ledger/audit-store.ts';

/**
 * Makes all manual changes of a subscription in any order, and compares them with a model that is as simple as the
 * rules (docs/billing.md): grants with an expiry, a plan with a period, and no database.
 */
const START = Date.parse('2026-01-31T10:00:00.000Z');
const plans = {
  free: { price: 0, credits: 10_000e6, trialDays: 0, trialCredits: 0 },
  pro: { price: 4900, credits: 60_000e6, trialDays: 14, trialCredits: 5_000e6 },
  business: { price: 29900, credits: 500_000e6, trialDays: 30, trialCredits: 20_000e6 },
} as const;
type Code = keyof typeof plans;

type Grant = { account: 'trial' | 'included'; amount: number; left: number; expires: number; born: number };
/** `credits`: the credits that wait for all open invoices. */
type Waiting = { credits: number; period: Period };
type Period = {
  from: number;
  to: number;
  anchor: number;
  grants: Grant[];
  /** Whether an invoice of the period, or of those that it replaced, is open. */
  owes: boolean;
  paid: { from: number; price: number };
};

class Model {
  now = START;
  plan: Code = 'free';
  trialing = false;
  trialUsed = false;
  ends = false;
  pending: Code | null = null;
  grants: Grant[] = [];
  invoices: number[] = [];
  waiting: Waiting[] = [];
  free: Period = this.beginPeriod('free', START, START);
  period: Period = this.free;

  /** Returns the month after `count` others, counted from the anchor. */
  static month(anchor: number, after: number): number {
    const first = new Date(anchor);
    for (let month = 1; ; month += 1) {
      const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month + 1, 0)).getUTCDate();
      const day = Math.min(first.getUTCDate(), last);
      const at = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month, day) + (anchor % DAY);
      if (at > after) return at;
    }
  }
  addGrant(account: Grant['account'], amount: number, expires: number): Grant {
    const grant = { account, amount, left: amount, expires, born: this.now };
    this.grants.push(grant);
    return grant;
  }
  beginPeriod(plan: Code, from: number, anchor: number): Period {
    const to = Model.month(anchor, from);
    const { price, credits } = plans[plan];
    const period: Period = { from, to, anchor, grants: [], owes: price > 0, paid: { from, price } };
    if (price > 0) {
      this.invoices.push(price);
      this.waiting.push({ credits, period });
    } else period.grants.push(this.addGrant('included', credits, to));
    return period;
  }
  returnToOnboarding(): void {
    if (this.free.to <= this.now) this.free = this.beginPeriod('free', this.now, this.now);
    this.period = this.free;
    this.plan = 'free';
    this.trialing = false;
    this.ends = false;
    this.pending = null;
  }
  pass(to: number): void {
    for (;;) {
      const expiry = Math.min(...this.grants.filter(({ left }) => left > 0).map(({ expires }) => expires));
      const at = Math.min(expiry, this.period.to);
      if (at > to) break;
      this.now = at;
      for (const grant of this.grants) if (grant.expires <= at) grant.left = 0;
      if (this.period.to > at) continue;
      if (this.trialing || this.ends) this.returnToOnboarding();
      else {
        this.plan = this.pending ?? this.plan;
        this.pending = null;
        this.period = this.beginPeriod(this.plan, at, this.period.anchor);
        if (this.plan === 'free') this.free = this.period;
      }
    }
    this.now = to;
  }
  spend(amount: number): void {
    let rest = amount;
    for (const account of ['trial', 'included'] as const) {
      const own = this.grants.filter(grant => grant.account === account);
      for (const grant of own.sort((a, b) => a.expires - b.expires)) {
        const taken = Math.min(rest, grant.left);
        grant.left -= taken;
        rest -= taken;
      }
    }
  }
  endTrial(): void {
    for (const grant of this.grants) if (grant.account === 'trial') grant.left = 0;
    this.trialing = false;
  }
  pay(): void {
    for (const { credits, period } of this.waiting) {
      period.owes = false;
      if (period.to > this.now) period.grants.push(this.addGrant('included', credits, period.to));
    }
    this.invoices = [];
    this.waiting = [];
  }
  owes(): boolean {
    return this.invoices.length > 0;
  }
  trial(plan: Code): string {
    if (plans[plan].trialDays === 0) return 'no_trial';
    if (this.trialUsed) return 'trial_used';
    if (this.plan !== 'free') return 'already_subscribed';
    const to = this.now + plans[plan].trialDays * DAY;
    this.addGrant('trial', plans[plan].trialCredits, to);
    this.period = { from: this.now, to, anchor: this.now, grants: [], owes: false, paid: { from: this.now, price: 0 } };
    this.plan = plan;
    this.trialing = true;
    this.trialUsed = true;
    return 'done';
  }
  subscribe(plan: Code): string {
    if (!this.trialing && this.plan !== 'free') return 'already_subscribed';
    if (plan === 'free') return this.plan === 'free' ? 'already_subscribed' : 'onboarding_plan';
    if (this.owes()) return 'payment_due';
    this.endTrial();
    this.ends = false;
    this.plan = plan;
    this.period = this.beginPeriod(plan, this.now, this.now);
    return 'done';
  }
  convert(): string {
    if (!this.trialing) return 'not_trialing';
    this.endTrial();
    this.ends = false;
    this.period = this.beginPeriod(this.plan, this.now, this.now);
    return 'done';
  }
  cancel(atEnd: boolean): string {
    if (this.plan === 'free') return 'not_subscribed';
    this.pending = atEnd && !this.ends ? null : this.pending;
    if (atEnd) this.ends = true;
    else {
      if (this.trialing) this.endTrial();
      this.returnToOnboarding();
    }
    return 'done';
  }
  change(plan: Code, requested: 'now' | 'period_end' | undefined): string {
    if (this.trialing) return 'trialing';
    if (this.plan === 'free') return 'not_subscribed';
    if (plan === this.plan) {
      if (!this.ends && this.pending === null) return 'same_plan';
      this.ends = false;
      this.pending = null;
      return 'done';
    }
    const when = requested ?? (plans[plan].price > plans[this.plan].price ? 'now' : 'period_end');
    if (plan === 'free') return this.cancel(when === 'period_end');
    this.ends = false;
    this.pending = when === 'period_end' ? plan : null;
    if (when === 'now') this.changeNow(plan);
    return 'done';
  }
  changeNow(plan: Code): void {
    const { period } = this;
    const at = Math.max(this.now, period.paid.from + 1);
    const share = (amount: number, from: number, since: number) =>
      Number((BigInt(amount) * BigInt(period.to - from)) / BigInt(period.to - since));
    const credit = share(period.paid.price, this.now, period.paid.from);
    const price = share(plans[plan].price, this.now, period.from);
    let carried = 0;
    for (const grant of period.grants) {
      const taken = Math.min(grant.left, share(grant.amount, at, period.paid.from));
      grant.left -= taken;
      carried += taken;
    }
    const unpaid = this.waiting.find(each => each.period === period);
    if (unpaid) unpaid.credits -= share(unpaid.credits, at, period.paid.from);
    const credits = share(plans[plan].credits, at, period.from);
    const owes = period.owes || price > credit;
    const now = owes ? Math.min(carried, credits) : credits;
    const rest: Period = {
      ...period,
      owes,
      grants: [this.addGrant('included', now, period.to)],
      paid: { from: at, price },
    };
    if (price > credit) this.invoices.push(price - credit);
    if (owes) this.waiting.push({ credits: credits - now, period: rest });
    this.period = rest;
    this.plan = plan;
  }
}

const code = fc.constantFrom<Code>('free', 'pro', 'business');
const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 40 * DAY }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('spend' as const), amount: fc.integer({ min: 1, max: 3e10 }) }) },
  fc.record({ do: fc.constant('trial' as const), plan: code }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('subscribe' as const), plan: code }) },
  fc.record({ do: fc.constant('convert' as const) }),
  fc.record({ do: fc.constant('cancel' as const), atEnd: fc.boolean() }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      plan: code,
      when: fc.constantFrom('now' as const, 'period_end' as const, undefined),
    }),
  },
  fc.record({ do: fc.constant('pay' as const) }),
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

const outcome = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? String(error),
  );

/** Performs the step on the world and on the model; returns both results. */
async function perform(world: BillingWorld, model: Model, step: Action): Promise<[real: string, expected: string]> {
  switch (step.do) {
    case 'pass':
      world.clock.advance(step.ms);
      model.pass(model.now + step.ms);
      return ['done', 'done'];
    case 'spend':
      // Processes what is due, so that expired credits are gone.
      await world.status();
      await charge(world.db.pool, 'acme', step.amount, world.clock.now());
      model.spend(step.amount);
      return ['done', 'done'];
    case 'trial':
      return [await outcome(world.ask('billing_trial_start', { plan_code: step.plan })), model.trial(step.plan)];
    case 'subscribe':
      return [await outcome(world.ask('billing_subscribe', { plan_code: step.plan })), model.subscribe(step.plan)];
    case 'convert':
      return [await outcome(world.ask('billing_convert_trial')), model.convert()];
    case 'cancel':
      return [await outcome(world.ask('billing_cancel', { at_period_end: step.atEnd })), model.cancel(step.atEnd)];
    case 'change':
      return [
        await outcome(
          world.ask('billing_change_plan', { plan_code: step.plan, ...(step.when && { when: step.when }) }),
        ),
        model.change(step.plan, step.when),
      ];
    case 'pay':
      await confirmPayments(world);
      model.pay();
      return ['done', 'done'];
  }
}

async function compare(world: BillingWorld, model: Model): Promise<void> {
  const status = await world.status();
  const sum = (account: string) =>
    model.grants.filter(grant => grant.account === account).reduce((total, { left }) => total + left, 0);
  const pending = (await world.payments()).filter(payment => payment.status === 'pending');
  expect({
    plan: status.plan_code,
    trialing: status.status === 'trialing',
    from: Date.parse(status.current_period_start),
    to: Date.parse(status.current_period_end),
    ends: status.cancel_at_period_end,
    pending: status.pending_plan_code,
    balances: await world.balances(),
    invoices: pending.map(({ amount }) => amount).sort((a, b) => a - b),
  }).toEqual({
    plan: model.plan,
    trialing: model.trialing,
    from: model.period.from,
    to: model.period.to,
    ends: model.ends,
    pending: model.pending,
    balances: { trial: sum('trial'), included: sum('included'), payg: 0 },
    invoices: [...model.invoices].sort((a, b) => a - b),
  });
}

test('after any requests at any time, plan, period, credits and invoices equal those of the model, and the books balance', async () => {
  await using world = await createBillingWorld(START);
  await fc.assert(
    fc
      .asyncProperty(fc.array(action, { minLength: 1, maxLength: 14 }), async steps => {
        const model = new Model();
        for (const step of steps) {
          const [real, expected] = await perform(world, model, step);
          expect(real).toBe(expected);
          await compare(world, model);
        }
        const { differences } = await auditLedger(world.db.pool, { now: world.clock.now(), tenantId: 'acme' });
        expect(differences).toEqual([]);
      })
      .beforeEach(async () => {
        await world.db.pool.query(`ALTER TABLE credit_ledger DISABLE TRIGGER ALL`);
        for (const table of [
          'credit_ledger',
          'credit_grants',
          'credit_accounts',
          'subscriptions',
          'payments',
          'billing_events',
          'run_usage',
          'runs',
          'run_events',
        ])
          await world.db.pool.query(`DELETE FROM ${table}`);
        await world.db.pool.query(`ALTER TABLE credit_ledger ENABLE TRIGGER ALL`);
        world.clock.advance(START - world.clock.now());
        await world.status();
      }),
    { numRuns: 30 },
  );
}, 120_000);
