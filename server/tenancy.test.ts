import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/**
 * Every query takes the tenant: each function that a store exports has the tenant as a parameter, or in the type of one, and uses
 * it. Exceptions are listed here with the reason why they need no tenant.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const texts = new Map<string, string>();

function readSource(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8');
  texts.set(path, text);
  return text;
}

const WITHOUT_TENANT: Record<string, Record<string, string[]>> = {
  'The account, its sessions and its links belong to a person, in whichever workspaces': {
    'identity/account-store.ts': [
      'changePasswordHash confirmAccount createUser findPresentAccount hasAccounts',
      'readAccount readAccounts readAllAccounts rehashPassword renameAccount resetPasswordHash retireAccount',
    ],
    'identity/account-token-store.ts': ['deleteTokens findToken issueToken spendToken'],
    'identity/member-store.ts': ['readMemberships withdrawGrantsOf'],
    'identity/principal-queries.ts': ['readReachable'],
    'identity/lock-queries.ts': ['lockAddress lockFirstOwner lockUser'],
    'identity/session-store.ts': ['endAllSessions hasEnded isCurrentEpoch nextSessionEpoch rememberEnded'],
    'identity/sign-on/store.ts': [
      'claimCheck deleteIdentitiesOf dropRefreshToken findIdentity hasIdentity listDueIdentities readInvitationsOf saveIdentity saveRefreshToken',
      'saveSignOnSession spendState takeSignOnSession',
    ],
    'identity/workspace-store.ts': ['countCreatedBy readAllWorkspaces'],
  },
  'The tenant is what it finds out, or makes': {
    'billing/payments/store.ts': ['findPayment'],
    'billing/provider-events/tenant-store.ts': ['findTenant'],
    'identity/account-store.ts': ['createTenant'],
    'identity/invitation-store.ts': ['acceptOpenInvitation findOpenInvitation'],
    'identity/principal-queries.ts': ['findGrant'],
    'webhooks/queries.ts': ['findIngress'],
  },
  'What it is about was found under the tenant before': {
    'connections/lock-queries.ts': ['tryWithConnectionLock withConnectionLock'],
    'identity/principal-queries.ts': ['saveLastUsed'],
    'identity/pats/store.ts': ['findExpiry'],
    'tasks/visible-store.ts': ['visibleTasks'],
    'runs/steps/added-step-store.ts': ['findAddedFields findLoopItem listAddedEnds'],
    'runs/store.ts': ['findPayloads findStepErrors hasStarted listResultEvents'],
    'webhooks/deliveries-queries.ts': ['insertDeliveries pruneDeliveries'],
    'webhooks/signature-queries.ts': ['claimSignature findSignedRun'],
  },
  'The catalog, its codes and the events of the payment provider belong to the deployment': {
    'billing/codes/store.ts': ['disableCode insertCode isKnownCode listCodes'],
    'billing/plans/store.ts': [
      'findOnboardingPlan findPlan listPlanChanges listPlans lockPlans noteChange savePlan seedPlans',
    ],
    'billing/provider-events/store.ts': ['isKnown knownAmong newestAppliedAt'],
    'billing/provider/stripe/plan-price-store.ts': ['planCodeOfPrice'],
  },
  'It works for all workspaces at once': {
    'analytics/backfill-store.ts': ['backfill'],
    'analytics/comparison-store.ts': ['compareGrains compareRollups compareUsage'],
    'analytics/durations-store.ts': ['aggregateDurations'],
    'analytics/aggregate-store.ts': ['addUsage deleteRollups nextBatch'],
    'analytics/progress-store.ts': ['lockProgress readProgress saveProgress'],
    'analytics/recount-store.ts': ['compareWithRuns readStepsSince'],
    'analytics/usage-rollup-store.ts': ['aggregateUsage'],
    'billing/due/store.ts': ['chargedTenants dueTenants nextDue'],
    'billing/ledger/count-store.ts': ['countCharges countNext'],
    'billing/provider-events/reconcile-store.ts': ['listCustomers listOpenPayments'],
    'chat/answers/store.ts': ['listEnded listStartable purgeThreads'],
    'connections/oauth/flow-store.ts': ['listLapsedFlows'],
    'connections/store.ts': ['listHidden'],
    'failure-handlers/enqueue-store.ts': ['enqueueHandlers hasNews lockNextRange saveProgress'],
    'failure-handlers/handler-store.ts': ['listDueHandlers'],
    'identity/lock-queries.ts': ['lockWorkflows'],
    'memory/embeddings/store.ts': ['listWaitingTenants'],
    'memory/recalls-store.ts': ['deleteRecalls'],
    'memory/extraction/store.ts': ['deleteExtractions'],
    'notifications/delivery-store.ts': ['claimDue'],
    'notifications/enqueue-store.ts': ['enqueueFailedRuns enqueueTasks'],
    'notifications/progress-store.ts': ['hasNews lockProgress nextBatch saveProgress'],
    'retention/audit-store.ts': ['countAuditEntries deleteAuditEntries'],
    'retention/analytics-store.ts': ['permitUsagePurge deleteUsageRollups recordRunPurge'],
    'retention/clock-store.ts': ['recordTrustedClock readTrustedAt'],
    'retention/expired-runs-store.ts': [
      'bytesInDefault countRejections countRuns deleteExpiredRuns deleteRejections deleteStrayUsage',
    ],
    'retention/notification-store.ts': ['countNotificationDeliveries deleteNotificationDeliveries'],
    'retention/partition-store.ts': ['dropUsage purgePartition'],
    'retention/proposal-store.ts': ['deleteClosedProposals', 'deleteRounds'],
    'retention/plan-store.ts': ['beginReading countStrayUsage endReading measureLogs sizeOf'],
    'retention/snapshot-store.ts': ['deleteSnapshots'],
    'retention/sweep-store.ts': ['tryRetentionLock vacuumRuns'],
    'retention/trial-store.ts': ['deleteTrials'],
    'run-stops/store.ts': ['listDueStops'],
  },
  'It reads no rows: it prepares the transaction, or the text of a query': {
    'analytics/store.ts': ['readFromOneSnapshot'],
    'memory/search/candidates-store.ts': ['canUseTrigrams'],
    'memory/search/conditions-store.ts': ['demandsOf hasWords'],
    'runs/search-store.ts': ['matchesText runsWithValue searchRuns'],
  },
};

const exempt = Object.values(WITHOUT_TENANT)
  .flatMap(byStore => Object.entries(byStore))
  .flatMap(([store, names]) => names.flatMap(line => line.split(' ').map(name => `${store} ${name}`)));

const NAMES_TENANT = /tenant(Id|_id)s?\b/i;

/** Returns whether a type that a file uses contains a tenant, in its own declaration or in a type that the declaration names. */
function typeHasTenant(path: string, name: string, seen = new Set<string>()): boolean {
  const key = `${path} ${name}`;
  if (seen.has(key)) return false;
  seen.add(key);
  const text = readSource(path);
  const body = new RegExp(`^(?:export )?type ${name}(?:<[^=]*>)? =([\\s\\S]*?);\\n(?=\\S|\\n|$)`, 'm').exec(text)?.[1];
  if (body !== undefined) return textHasTenant(path, body, seen);
  const imported = new RegExp(`\\{[^}]*\\b${name}\\b[^}]*\\} from '(\\.[^']+)'`).exec(text)?.[1];
  if (imported === undefined) return false;
  const from = normalize(join(dirname(path), imported));
  // The rows of Prisma's models have the columns of the schema.
  if (from.endsWith('postgres/generated/client.ts')) return modelHasTenant(name);
  return from !== path && typeHasTenant(from, name, seen);
}

function textHasTenant(path: string, text: string, seen: Set<string>): boolean {
  if (NAMES_TENANT.test(text)) return true;
  return [...text.matchAll(/\b[A-Z]\w+/g)].some(([name]) => typeHasTenant(path, name, seen));
}

function modelHasTenant(name: string): boolean {
  const model = new RegExp(`^model ${name} \\{[\\s\\S]*?^\\}`, 'm').exec(readSource('prisma/schema.prisma'))?.[0] ?? '';
  return NAMES_TENANT.test(model);
}

/** The functions that a file exports: their names, parameters, and what follows up to their end. */
function exportedFunctions(text: string): { name: string; parameters: string; body: string }[] {
  return [...text.matchAll(/^export (?:async )?function (\w+)/gm)].map(match => {
    const start = text.indexOf('(', match.index);
    let depth = 0;
    let end = start;
    do {
      if (text[end] === '(') depth += 1;
      if (text[end] === ')') depth -= 1;
      end += 1;
    } while (depth > 0 && end < text.length);
    const rest = text.slice(end);
    return { name: match[1] ?? '', parameters: text.slice(start, end), body: rest.slice(0, rest.search(/^\}/m)) };
  });
}

/** The declarations of a file that are not types, by their names. */
function declarations(text: string): Map<string, string> {
  const found = text.matchAll(
    /^(?:export )?(?:async )?(?:function|const) (\w+)[\s\S]*?(?=\n(?:\n|export |const |\/\*\*|type |function |async )|(?![\s\S]))/gm,
  );
  return new Map([...found].map(([declaration, name = '']) => [name, declaration]));
}

/** Returns whether a body names the tenant, or passes on a whole parameter that contains it, rather than one of its fields. */
function usesTenant(path: string, parameters: string, body: string): boolean {
  if (NAMES_TENANT.test(body)) return true;
  const declared = declarations(readSource(path));
  const named = [...body.matchAll(/\b\w+\b/g)].map(([name]) => declared.get(name) ?? '');
  if (named.some(text => NAMES_TENANT.test(text))) return true;
  return [...parameters.matchAll(/(?:\(|, ?|\n\s*|\.\.\.)(\w+)(?: \})?\??: ([^,]*)/g)].some(
    ([, name = '', type = '']) =>
      textHasTenant(path, type, new Set()) && new RegExp(`\\b${name}\\b(?!\\??[.:])`).test(body),
  );
}

const stores = globSync('server/domains/**/*{store,queries}.ts', { cwd: root }).filter(path =>
  /(^|\/|-)(store|queries)\.ts$/.test(path),
);

test('every query of a store takes the tenant, or says why it needs none', () => {
  expect(stores.length).toBeGreaterThan(40);
  const without = stores.flatMap(path =>
    exportedFunctions(readSource(path)).flatMap(({ name, parameters }) =>
      textHasTenant(path, parameters, new Set()) ? [] : [`${path.replace('server/domains/', '')} ${name}`],
    ),
  );
  expect(without.sort()).toEqual(exempt.sort());
});

test('the queries of a store are in functions, which these tests see', () => {
  const query = /\.query\b|\b(prisma|tx|db)\s*\.|\.(find|create|update|delete|upsert|count|aggregate|groupBy)\w*\(/;
  const elsewhere = stores.flatMap(path =>
    [...declarations(readSource(path))].flatMap(([name, declaration]) =>
      /^export const/.test(declaration) && query.test(declaration) ? [`${path} ${name}`] : [],
    ),
  );
  expect(elsewhere).toEqual([]);
  expect(stores.filter(path => /^export (class|default|\{|\*)/m.test(readSource(path)))).toEqual([]);
});

test('every query that takes the tenant uses it', () => {
  const unused = stores.flatMap(path =>
    exportedFunctions(readSource(path)).flatMap(({ name, parameters, body }) => {
      const id = `${path.replace('server/domains/', '')} ${name}`;
      return exempt.includes(id) || usesTenant(path, parameters, body) ? [] : [id];
    }),
  );
  expect(unused).toEqual([]);
});
