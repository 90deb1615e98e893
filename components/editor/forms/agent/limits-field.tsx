'use client';
import { isObject } from '@/server/platform/json.ts';
import type { Fields, Json } from '../../../../server/domains/workflows/edits/index.ts';
import { JsonField, type SchemaFieldProps } from '../../inspector/code-field.tsx';
import { explained } from '../../inspector/field-help.tsx';
import { TypedField } from '../../inspector/typed-field.tsx';
import type { StepField } from '../../step-fields.ts';
import { TimeField } from '../time-field.tsx';
import { hasOnly, withField } from './object-fields.ts';

const number = (name: string, label: string, hint: string, integer = true): StepField => ({
  name,
  label,
  kind: 'number',
  required: false,
  hint,
  choices: [],
  integer,
});
const NUMBERS = [
  number('max_turns', 'Model turns', 'At most 200. Default: 25.'),
  number('max_tool_calls', 'Tool calls', 'At most 1,000. Default: 100.'),
  number('budget_credits', 'Budget in credits', 'What turns and calls may cost. Default: no limit of its own.', false),
  number('context_tokens', 'Context in tokens', 'How long the conversation may get. Default: what the model reads.'),
];
const NAMES = [...NUMBERS.map(({ name }) => name), 'timeout_s'];
const TIME_HINT = 'All turns and calls together. Default: 1 hour.';

/** The limits of an agent as numbers, or JSON if the value contains anything else. */
export function LimitsField(props: SchemaFieldProps) {
  const { value, onChange, readOnly, problem } = props;
  if (!hasOnly(value, NAMES)) return <JsonField {...props} />;
  const fields = (isObject(value) ? value : {}) as Fields;
  const set = (name: string) => (next: Json | undefined) => onChange(withField(value, name, next));
  const { timeout_s: seconds } = fields;
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 text-sm font-medium">Limits</legend>
      <div className="grid grid-cols-2 items-start gap-3">
        {NUMBERS.map(field => (
          <TypedField
            key={field.name}
            {...props}
            field={field}
            id={`${props.id}.${field.name}`}
            value={fields[field.name]}
            problem={undefined}
            onChange={set(field.name)}
          />
        ))}
      </div>
      <TimeField
        label="Time"
        help={explained(TIME_HINT, 'Time').help}
        seconds={typeof seconds === 'number' ? seconds : undefined}
        placeholder="1 hour"
        problem={undefined}
        readOnly={readOnly}
        onChange={set('timeout_s')}
      />
      {problem ? (
        <p role="alert" className="text-xs wrap-anywhere text-bad">
          {problem}
        </p>
      ) : null}
    </fieldset>
  );
}
