import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateCode } from '../../domains/billing/codes/code.ts';
import { ensureOnboarded } from '../../domains/billing/subscriptions/onboard.ts';
import type { Services } from '../../operation/services.ts';
import { CREDIT } from '../../orchestrator/ports/microcredits.ts';
import { ManualClock } from '../../platform/clock.ts';
import { runCommand } from '../../testing/commands.ts';
import { createTestServices } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { UsageError } from '../command-line.ts';
import { declareCodes } from './codes.ts';

let db: TestDatabase;
let services: Services;
const clock = new ManualClock();
const run = (line: string) => runCommand(declareCodes, services, ['codes', ...line.split(' ')]);
const stored = (code: string) =>
  db.prisma.billingCode.findUniqueOrThrow({ where: { productCode_code: { productCode: 'baton', code } } });

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  await db.prisma.tenant.create({ data: { slug: 'acme', name: 'Acme', createdAt: new Date(clock.now()) } });
  // Onboarding a workspace seeds the catalog.
  await ensureOnboarded(services, 'acme');
});
afterAll(() => db.close());

describe('npm run baton -- billing codes', () => {
  test('creates a code with the given terms', async () => {
    const made = await run(
      'create --kind credits --value 10.5 --code launch-26 --max 100 --per-tenant 2 --ends 2027-01-01 --credits-expire-days 30',
    );
    expect(made).toEqual({ code: 0, text: 'LAUNCH-26' });
    expect(await stored('LAUNCH-26')).toMatchObject({
      kind: 'credits',
      value: BigInt(10.5 * CREDIT),
      maxRedemptions: 100,
      maxPerTenant: 2,
      endsAt: new Date('2027-01-01T00:00:00Z'),
      creditsExpireDays: 30,
      createdBy: 'operator',
    });
    await expect(run('create --kind credits --value 1 --code LAUNCH-26')).rejects.toMatchObject({
      code: 'code_exists',
    });
  });

  test('creates many random codes', async () => {
    const { text } = await run('create --kind percent --value 20 --months 3 --plans pro --count 50');
    const codes = text.split('\n');
    expect(new Set(codes).size).toBe(50);
    for (const code of codes) expect(code).toMatch(/^[34679ACDEFGHJKMNPQRTWXY]{6}(-[34679ACDEFGHJKMNPQRTWXY]{6}){2}$/);
    expect(await stored(codes[0] ?? '')).toMatchObject({
      kind: 'percent',
      months: 3,
      planCodes: ['pro'],
      maxPerTenant: 1,
    });
  });

  test.each([
    ['create', '--kind'],
    ['create --kind credits --value 0', '--value'],
    ['create --kind credits --value 0.0000001', '--value'],
    ['create --kind percent --value 101', '--value'],
    ['create --kind trial_days --value 1.5', '--value'],
    ['create --kind amount --value 500', '--currency'],
    ['create --kind percent --value 5 --currency usd', '--currency'],
    ['create --kind credits --value 5 --months 3', '--months'],
    ['create --kind credits --value 5 --code abcd --count 2', '--count'],
    ['create --kind credits --value 5 --code a;b', '--code'],
    ['create --kind credits --value 5 --ends tomorrow', '--ends'],
    ['create --kind credits --value 5 --starts 2027-02-01 --ends 2027-01-01', '--ends'],
    ['create --kind credits --value 5 --maximum 3', '--maximum'],
    ['invent', "unknown command 'invent'"],
  ])('%s is refused, naming %s', async (line, named) => {
    const error = await run(line).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toContain(named);
  });

  test('refuses a code for an unknown plan', async () => {
    await expect(run('create --kind percent --value 5 --plans pro,gold')).rejects.toMatchObject({
      code: 'unknown_plan',
    });
  });

  test('lists and disables', async () => {
    await run('create --kind amount --value 500 --currency USD --code five-off --months 1 --max 7');
    expect((await run('list')).text).toContain('FIVE-OFF  USD 5.00 for 1 month  redeemed 0 of 7');
    expect(await run('disable Five-Off')).toEqual({ code: 0, text: 'FIVE-OFF is disabled.' });
    expect(JSON.parse((await run('list --json')).text)).toContainEqual(
      expect.objectContaining({ code: 'FIVE-OFF', disabled: true }),
    );
    expect(await run('disable nothing')).toEqual({ code: 1, text: 'There is no code NOTHING.' });
  });
});

test('a random code has at least 80 bits, and its letters are uniformly distributed', () => {
  const codes = Array.from({ length: 2000 }, generateCode);
  const letters = codes.join('').replaceAll('-', '');
  const counts = new Map<string, number>();
  for (const letter of letters) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect((letters.length / codes.length) * Math.log2(counts.size)).toBeGreaterThan(80);
  const expected = letters.length / counts.size;
  // Six standard deviations.
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(6 * Math.sqrt(expected));
});
