import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLogger } from '../../platform/logger.ts';
import { startEmbedded } from '../../platform/postgres/embedded.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { type BillingWorld, createBillingWorld } from '../../testing/billing/subscriptions.ts';
import { runBaton, runCommand } from '../../testing/commands.ts';
import { scratchFolder } from '../../testing/scratch-folder.ts';
import { UsageError } from '../command-line.ts';
import { declareBilling } from './billing.ts';

const billing = (args: string[], env: Record<string, string>) => runBaton(['billing', ...args], env);
const operate = ({ services }: BillingWorld, ...args: string[]) =>
  runCommand(declareBilling, { ...services, by: 'operator:ann' }, args);

test('plans are listed, changed with their history, and retired', async () => {
  await using world = await createBillingWorld(Date.now());
  const env = { DATABASE_URL: world.db.url };
  const listed = await billing(['plans'], env);
  expect(listed).toMatchObject({ code: 0, err: '' });
  expect(listed.out).toMatch(/^free +Free +USD 0\.00 +1 month +10,000 +.*onboarding default$/m);
  const run = (...args: string[]) => operate(world, ...args);
  await run('plans', 'set', 'pro', 'amount=5900', 'prices.tool_call=9000', 'product_name=Pro 2');
  const history = (await run('plans', 'history', 'pro')).text;
  expect(history).toContain('amount: 4900 → 5900');
  expect(history).toContain('product_name: "Pro" → "Pro 2"');
  expect(history).toContain('operator:ann');
  const refused = await billing(['plans', 'set', 'pro', 'amount=-1', 'colour=red'], env);
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toMatch(/amount: .*\n.*colour/s);
  await expect(run('plans', 'retire', 'free')).rejects.toMatchObject({ status: 422 });
  expect((await run('plans', 'retire', 'pro')).code).toBe(0);
  await expect(world.ask('billing_subscribe', { plan_code: 'pro' })).rejects.toMatchObject({ code: 'unknown_plan' });
});

test('payments are confirmed and refunded, credits granted, and the workspace and its ledger shown', async () => {
  await using world = await createBillingWorld(Date.now());
  const env = { DATABASE_URL: world.db.url };
  type TopUp = { payment: { id: string } };
  const { payment } = await world.ask<TopUp>('billing_topup_intent', { amount: 500 });
  const pending = await billing(['payments', '--status', 'pending', '--tenant', 'acme'], env);
  expect(pending.out).toContain(payment.id);
  expect(await billing(['confirm-payment', payment.id], env)).toMatchObject({ code: 0, err: '' });
  expect((await world.balances()).payg).toBe(5_000_000_000);
  const run = (...args: string[]) => operate(world, ...args);
  expect((await run('payments', 'refund', payment.id, '--amount', '100')).text).toContain('USD 1.00');
  expect((await world.balances()).payg).toBe(4_000_000_000);
  expect((await billing(['cancel-payment', payment.id], env)).err).toMatch(/^baton: This payment is succeeded\.\n$/);
  expect((await run('credits', 'grant', 'acme', '2.5', '--expires', '30d')).code).toBe(0);
  expect((await world.balances()).payg).toBe(4_002_500_000);
  expect((await run('tenant', 'acme')).text).toMatch(/^acme: free, active, by manual$/m);
  expect((await run('audit', '--tenant', 'acme')).text).toContain('The books balance.');
  expect((await run('reconcile')).text).toMatch(/confirmed manually/);
});

test('invalid arguments are refused, and change nothing', async () => {
  await using world = await createBillingWorld(Date.now());
  await world.status();
  for (const args of [
    ['plan'],
    ['plans', 'sell'],
    ['plans', 'set', 'pro'],
    ['plans', 'set', 'pro', 'amount'],
    ['payments', 'confirm'],
    ['payments', 'forget', 'x'],
    ['payments', '--status', 'lost'],
    ['credits', 'grant', 'acme', '0.0000001'],
    ['credits', 'grant', 'acme', '5', '--account', 'savings'],
    ['credits', 'grant', 'acme', '5', '--expires', 'soon'],
    ['credits', 'give', 'acme', '5'],
    ['tenant'],
    ['tenant', 'acme', 'rival'],
    ['audit', '--all'],
    ['reconcile', '--since', 'yesterday'],
  ]) {
    await expect(operate(world, ...args), args.join(' ')).rejects.toBeInstanceOf(UsageError);
  }
  for (const args of [
    ['tenant', 'nobody'],
    ['credits', 'grant', 'nobody', '5'],
    ['confirm-payment', 'x'],
  ])
    await expect(operate(world, ...args)).rejects.toMatchObject({ status: 404 });
  expect((await world.balances()).payg).toBe(0);
  expect(await billing(['plan'], {})).toEqual({
    code: 1,
    out: '',
    err: "baton: unknown command 'plan' (Did you mean plans?)\nSee npm run baton -- billing --help.\n",
  });
});

test('reaches the embedded database, also while a server runs it, and fails if there is no database', async () => {
  const folder = await mkdtemp(join(scratchFolder(), 'baton-billing-'));
  await chmod(folder, 0o755);
  try {
    const env = { BATON_DATA_DIR: folder };
    expect((await billing(['plans'], env)).err).toMatch(/^baton: There is no database in /);
    const embedded = await startEmbedded(folder, 10, createLogger('silent'));
    expect((await billing(['plans'], env)).err).toMatch(/belongs to an older version of Baton/);
    await migrate(embedded.url);
    expect(await billing(['plans'], env)).toMatchObject({ code: 0, err: '' });
    await embedded.close();
    expect(await billing(['plans'], env)).toMatchObject({ code: 0, err: '' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
