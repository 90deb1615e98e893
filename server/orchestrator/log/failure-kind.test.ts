import { expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import type { LogEntry } from './entry.ts';
import { AppendError, GroupCommitLog } from './group-commit.ts';

const PROJECT = newId();
const owner = { tenantId: 'acme', projectId: PROJECT, workflowId: PROJECT };
const entry = (): LogEntry => ({
  runId: newId(),
  rows: [],
  payloads: [],
  projection: null,
  tasks: [],
  owner,
  startedBy: '',
  usage: [],
});

/**
 * Returns what happens to two entries of one batch, and to the leadership, when the database refuses every
 * commit with this SQLSTATE.
 */
async function refusedWith(code: string): Promise<{ kinds: string[]; steppedDown: boolean }> {
  const refusal = Object.assign(new Error('refused'), { code });
  let steppedDown = false;
  const log = new GroupCommitLog({ commit: () => Promise.reject(refusal) }, () => {
    steppedDown = true;
  });
  const results = await Promise.allSettled([log.append(entry()), log.append(entry())]);
  const kinds = results.map(result =>
    result.status === 'rejected' && result.reason instanceof AppendError ? result.reason.kind : result.status,
  );
  return { kinds, steppedDown };
}

test.each(['22P05', '22003', '23514', '54001'])(
  '%s is the fault of an entry: each refused entry fails, and the leader stays',
  async code => {
    expect(await refusedWith(code)).toEqual({ kinds: ['rejected', 'rejected'], steppedDown: false });
  },
);

// An undefined column or table, a missing privilege, a lock not available, no space, read-only; and a deadlock (or a
// serialization failure) that does not end, however often an entry is written alone.
test.each(['42703', '42P01', '42501', '55P03', '40P01', '40001', '53100', '25006', '57014'])(
  '%s is not the fault of any entry: no run fails for it, and the leader steps down',
  async code => {
    expect(await refusedWith(code)).toEqual({ kinds: ['lost', 'lost'], steppedDown: true });
  },
);

test('an entry is written once more if its partition was created while it went to the DEFAULT one', async () => {
  const refusal = Object.assign(new Error('new row violates partition constraint'), { code: '23514' });
  const answers: (Error | null)[] = [refusal, null, refusal, refusal];
  const commit = () => {
    const answer = answers.shift() ?? null;
    return answer === null ? Promise.resolve() : Promise.reject(answer);
  };
  const log = new GroupCommitLog({ commit }, () => expect.fail('the leader steps down'));
  await log.append(entry());
  expect(answers).toHaveLength(2);
  await expect(log.append(entry())).rejects.toMatchObject({ kind: 'rejected' });
  expect(answers).toEqual([]);
});

test('an entry that violates a declared constraint is not written again', async () => {
  const refusal = Object.assign(new Error('a check failed'), { code: '23514', constraint: 'runs_positive' });
  let commits = 0;
  const commit = () => {
    commits += 1;
    return Promise.reject(refusal);
  };
  const log = new GroupCommitLog({ commit }, () => expect.fail('the leader steps down'));
  await expect(log.append(entry())).rejects.toMatchObject({ kind: 'rejected' });
  expect(commits).toBe(1);
});

test.each(['40P01', '40001'])(
  'a batch that is refused with %s is halved and written again: nothing is lost',
  async code => {
    const refusal = Object.assign(new Error('refused'), { code });
    const batches: number[] = [];
    const commit = (batch: readonly LogEntry[]) => {
      batches.push(batch.length);
      return batches.length <= 3 ? Promise.reject(refusal) : Promise.resolve();
    };
    const log = new GroupCommitLog({ commit }, () => expect.fail('the leader steps down'));
    await Promise.all([log.append(entry()), log.append(entry())]);
    // Both, the first one alone three times, and the second one.
    expect(batches).toEqual([2, 1, 1, 1, 1]);
  },
);

test('a batch is written in the order of its run ids, and its callers learn of it in the order of their appends', async () => {
  const written: string[][] = [];
  const commit = async (batch: readonly LogEntry[]) => void written.push(batch.map(({ runId }) => runId));
  const log = new GroupCommitLog({ commit }, () => expect.fail('the leader steps down'));
  const entries = [entry(), entry(), entry()].reverse();
  const notified: string[] = [];
  await Promise.all(entries.map(each => log.append(each).then(() => notified.push(each.runId))));
  expect(written).toEqual([entries.map(({ runId }) => runId).reverse()]);
  expect(notified).toEqual(entries.map(({ runId }) => runId));
});
