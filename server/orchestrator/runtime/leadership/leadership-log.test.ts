import { expect, test } from 'vitest';
import { createLogger } from '../../../platform/logger.ts';
import { LeadershipLog } from './leadership-log.ts';

function logged(): { log: LeadershipLog; lines: string[] } {
  const lines: string[] = [];
  const write = (line: string): void => {
    const { msg, reason, attempts } = JSON.parse(line);
    lines.push([msg, reason, attempts].filter(part => part !== undefined).join(': '));
  };
  return { log: new LeadershipLog(createLogger('info', { destination: { write } })), lines };
}

function fail(log: LeadershipLog, reasons: readonly string[]): void {
  for (const reason of reasons) log.cannotLead(reason, new Error(reason));
}

test('of an outage with alternating reasons, each is logged once, at most three, and every tenth attempt', () => {
  const { log, lines } = logged();
  fail(log, ['full', 'refused', 'full', 'refused', 'pg_wal/1', 'pg_wal/2', 'pg_wal/3', 'full', 'full']);
  expect(lines).toEqual([
    'the orchestrator cannot lead: full',
    'the orchestrator cannot lead: refused',
    'the orchestrator cannot lead: pg_wal/1',
  ]);
  fail(log, ['pg_wal/4', 'full']);
  expect(lines.slice(3)).toEqual(['the orchestrator still cannot lead: pg_wal/4: 10']);
});

test('the next outage is logged again, and order only after an outage', () => {
  const { log, lines } = logged();
  log.backInOrder('leading');
  fail(log, ['full', 'full']);
  log.backInOrder('leading');
  log.backInOrder('leading');
  fail(log, ['full']);
  expect(lines).toEqual([
    'the orchestrator cannot lead: full',
    'the orchestrator is in order again: 2',
    'the orchestrator cannot lead: full',
  ]);
});
