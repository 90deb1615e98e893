'use client';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { TimeField } from '../time-field.tsx';

type Limit = { timeout_s: number | undefined; on_timeout: string | undefined };
type Props = {
  limit: Limit;
  problem: string | undefined;
  readOnly: boolean;
  onChange: (change: Partial<Limit>) => void;
};

const TIMEOUT_ACTIONS = [
  { value: 'fail', label: 'The step fails' },
  { value: 'approve', label: 'It counts as approved' },
  { value: 'reject', label: 'It counts as rejected' },
];

/** The time limit of a task, and the action after it. */
export function TimeLimitFields({ limit, problem, readOnly, onChange }: Props) {
  const { timeout_s: seconds, on_timeout: end } = limit;
  return (
    <div className="flex flex-col gap-3">
      <TimeField
        label="Time limit"
        seconds={seconds}
        placeholder="None"
        problem={problem}
        readOnly={readOnly}
        // Without a limit, there is no action on timeout.
        onChange={next => onChange({ timeout_s: next, ...(next === undefined ? { on_timeout: undefined } : {}) })}
      />
      {seconds === undefined && end === undefined ? null : (
        <Field label="When the time is up">
          <Select
            value={end ?? 'fail'}
            options={TIMEOUT_ACTIONS}
            disabled={readOnly}
            onChange={next => onChange({ on_timeout: next === 'fail' ? undefined : next })}
          />
        </Field>
      )}
    </div>
  );
}
