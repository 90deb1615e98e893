import type { Outputs } from '../../trpc/provider.tsx';

export type BulkJob = Outputs['runs_get_bulk'];
export type BulkAction = BulkJob['action'];

type Words = {
  button: string;
  title: string;
  /** The runs that the action applies to. */
  suits: string;
  doing: string;
  done: string;
  failed: string;
};

export const bulkWords: Record<BulkAction, Words> = {
  stop: {
    button: 'Stop',
    title: 'Stop runs?',
    suits: 'is active',
    doing: 'Stopping runs',
    done: 'Stopped',
    failed: 'could not be stopped',
  },
  rerun: {
    button: 'Run again',
    title: 'Run again?',
    suits: 'has ended',
    doing: 'Running again',
    done: 'Started again',
    failed: 'could not be started',
  },
  continue: {
    button: 'Continue from the failing step',
    title: 'Continue failed runs?',
    suits: 'has failed',
    doing: 'Continuing runs',
    done: 'Continued',
    failed: 'could not be continued',
  },
};

const numbered = (count: number, more: boolean): string => `${count.toLocaleString('en')}${more ? '+' : ''}`;

/** Returns a sentence that says how many of the selected runs an action applies to: "3 of the 5 selected runs have ended." */
export function countInWords(
  action: BulkAction,
  matching: { matching: number; capped: boolean },
  selected: number | null,
) {
  const { suits } = bulkWords[action];
  const verb =
    matching.matching === 1 && !matching.capped ? suits : suits.replace(/^is/, 'are').replace(/^has/, 'have');
  const count = numbered(matching.matching, matching.capped);
  if (selected === null) return `${count} ${matching.matching === 1 ? 'run' : 'runs'} that match ${verb}.`;
  return `${count} of the ${selected.toLocaleString('en')} selected ${selected === 1 ? 'runs' : 'runs'} ${verb}.`;
}

/** Returns a line about the progress of a job. */
export function progressInWords({ action, state, matched, done, passed, failed }: BulkJob): string {
  const { doing, done: did } = bulkWords[action];
  if (state === 'finished') return `${did}: ${numbered(done, false)} of ${numbered(matched, false)}`;
  if (matched === 0) return 'Looking for runs';
  return `${doing}: ${numbered(done + passed + failed, false)} of ${numbered(matched, false)}`;
}
