import type { StepPreview } from '../../ports/step-declarations.ts';
import { textOf, withShortTemplates } from '../preview-parts.ts';

export const preview: StepPreview = {
  starter: { seconds: 60 },
  liveEffect: () => 'Waits as long as it says',
  result: () => ({ waited_until: '' }),
  summary: ({ seconds, until }) => {
    const instant = textOf(until);
    if (instant) return `Until ${shortInstant(instant)}`;
    if (typeof seconds === 'number') return `For ${duration(seconds)}`;
    return textOf(seconds) ? `For ${withShortTemplates(textOf(seconds))} seconds` : null;
  },
};

const UNITS = [
  { seconds: 86_400, one: 'day', many: 'days' },
  { seconds: 3_600, one: 'hour', many: 'hours' },
  { seconds: 60, one: 'minute', many: 'minutes' },
] as const;

function duration(seconds: number): string {
  const unit = UNITS.find(each => seconds >= each.seconds && seconds % each.seconds === 0);
  if (unit === undefined) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  const count = seconds / unit.seconds;
  return `${count} ${count === 1 ? unit.one : unit.many}`;
}

/** Formats an instant to the minute, in its original UTC offset. */
function shortInstant(instant: string): string {
  const written = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)\S*?(Z|[+-]\d\d:\d\d)$/.exec(instant);
  if (!written) return withShortTemplates(instant);
  const [, day, time, offset] = written;
  return `${day} ${time}${offset === 'Z' ? ' UTC' : ` ${offset}`}`;
}
