import { readFileSync } from 'node:fs';
import { ManualClock } from '../../platform/clock.ts';
import { startTestContainer, type TestContainer } from '../container.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../identity.ts';
import { type StripeServer, startStripeServer } from '../stripe/server.ts';
import type { StoredEvent } from '../stripe/world.ts';

/** The service's answers, with the fields that several tests read. */
export type Answer = { status: number; headers: Headers; body: Answered };
type Answered = {
  error?: string;
  code?: string;
  status: {
    status: string;
    plan_code: string;
    pending_plan_code: string | null;
    cancel_at_period_end: boolean;
  } & Record<string, unknown>;
  checkout: { provider: string; kind: string; client_secret: string } | null;
  preview: { amount_due: number; effective_at: string; lines: { description: string; amount: number }[] };
  payment: { id: string; status: string; credits_microcredits: number };
  payments: { kind: string; status: string; amount: number; refunded_amount: number; credits_microcredits: number }[];
} & Record<string, unknown>;

/** One workspace of the service. */
export type Member = {
  tenant: TestTenant;
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer>;
  /** The remaining credits, in microcredits. */
  balances(): Promise<{ trial: number; included: number; payg: number }>;
  /** The events of Stripe about it, in order. */
  events(): StoredEvent[];
};

/** The whole service, with a separate Stripe, one clock for both, and one workspace in it. */
export type StripeService = TestContainer &
  Member & {
    stripe: StripeServer;
    clock: ManualClock;
    webhook: string;
    /** Creates another workspace. */
    join(slug: string): Promise<Member>;
    /** Delivers what Stripe has not delivered yet, or these events. */
    deliver(events?: readonly StoredEvent[]): Promise<number[]>;
    /** Advances both clocks and processes what falls due at Stripe, without delivering anything. */
    pass(ms: number): void;
  };

const catalog = new URL('../../domains/billing/plans/catalog.json', import.meta.url);

export async function startStripeService(): Promise<StripeService> {
  const clock = new ManualClock(Date.UTC(2026, 0, 15, 12));
  const stripe = await startStripeServer(() => clock.now());
  const { plans } = JSON.parse(readFileSync(catalog, 'utf8')) as {
    plans: { payment_price_id?: string; amount: number }[];
  };
  for (const { payment_price_id: id, amount } of plans) if (id !== undefined) stripe.addPrice({ id, amount });
  const service = await startTestContainer(stripe.env, { clock });
  const webhook = `${service.url}/v1/billing/provider-webhook`;
  const join = (slug: string) => joinService(service, stripe, slug);
  return {
    ...service,
    ...(await join('acme')),
    stripe,
    clock,
    webhook,
    join,
    deliver: events => stripe.deliver(webhook, events),
    pass(ms) {
      clock.advance(ms);
      stripe.advance(clock.now());
    },
    async close() {
      await service.close();
      await stripe.close();
    },
  };
}

async function joinService({ container, url }: TestContainer, stripe: StripeServer, slug: string): Promise<Member> {
  const { services } = container;
  const tenant = await createTestTenant(services, { slug });
  const { token } = await createTestPat(services, tenant.owner, ['billing:read', 'billing:manage']);
  const call: Member['call'] = async (method, path, body) => {
    const response = await fetch(`${url}/v1/billing/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answered };
  };
  return {
    tenant,
    call,
    async balances() {
      const { body } = await call('GET', 'usage');
      const { trial_remaining, included_remaining, payg_remaining } = body as unknown as Record<string, number>;
      return { trial: trial_remaining ?? -1, included: included_remaining ?? -1, payg: payg_remaining ?? -1 };
    },
    events() {
      const { customers, events } = stripe.world;
      const own = [...customers.values()].filter(({ metadata }) => metadata.tenant_id === slug).map(({ id }) => id);
      return events.filter(({ data: { object } }) => own.includes(String(Reflect.get(Object(object), 'customer'))));
    },
  };
}
