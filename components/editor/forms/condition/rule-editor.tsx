'use client';
import { X } from 'lucide-react';
import { IconButton } from '../../../ui/button.tsx';
import { Input } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { FieldPicker } from './field-picker.tsx';
import { type FieldType, OPERATOR_LABELS, operatorsFor } from './field-types.ts';
import type { RuleContext } from './group-editor.tsx';
import { isFinished, isNumberText, type Operator, operandOf, type Rule, type RuleValue } from './rules.ts';

type Props = {
  rule: Rule;
  /** The name of the rule in the labels of its controls, such as “Rule 1”. */
  name: string;
  onChange: (rule: Rule) => void;
  onRemove: (() => void) | null;
  context: RuleContext;
  /** Whether the rule was just added, so that its field takes the focus. */
  isNew: boolean;
};

/** A rule: a field, an operator, and an operand. */
export function RuleEditor({ rule, name, onChange, onRemove, context, isNew }: Props) {
  const { choices, readOnly } = context;
  const type = choices.find(({ path }) => path === rule.field)?.type ?? 'unknown';
  const chooseField = (field: string) => {
    const next = choices.find(({ path }) => path === field)?.type ?? 'unknown';
    // The operator and the operand chosen for another field stay if they still fit.
    const isUntouched = rule.operator === 'equals' && rule.value.kind === 'text' && rule.value.text === '';
    const fits = next === 'unknown' || (!isUntouched && operatorsFor(next, 'equals').includes(rule.operator));
    const operator = fits ? rule.operator : (operatorsFor(next, 'equals')[0] ?? 'equals');
    onChange({ ...rule, field, operator, value: fittingValue(rule.value, next) });
  };
  return (
    <div className="flex items-start gap-1.5">
      <div className="flex min-w-0 flex-1 flex-col gap-1.5 rounded-md border bg-surface p-2">
        <FieldPicker
          label={`${name}: field`}
          value={rule.field}
          onChange={chooseField}
          context={context}
          autoFocus={isNew}
        />
        <div className="flex flex-wrap items-start gap-1.5">
          <Select
            label={`${name}: operator`}
            value={rule.operator}
            disabled={readOnly}
            className="w-44"
            options={operatorsFor(type, rule.operator).map(value => ({ value, label: OPERATOR_LABELS[value] }))}
            onChange={operator => onChange(withOperator(rule, operator))}
          />
          <Operand rule={rule} type={type} {...{ name, onChange, context }} />
        </div>
        {rule.field !== '' && !isFinished(rule) ? (
          <p role="status" className="text-xs text-warn">
            {problemOf(rule)}
          </p>
        ) : null}
      </div>
      {onRemove === null || readOnly ? null : (
        <IconButton label={`Remove ${name.toLowerCase()}`} size="sm" tooltip={false} onClick={onRemove}>
          <X aria-hidden className="size-3.5" />
        </IconButton>
      )}
    </div>
  );
}

function problemOf({ value, operator }: Rule): string {
  if (operandOf(operator) === 'list') return 'Not saved yet: enter at least one value.';
  if (value.kind === 'number' && !isNumberText(value.text.trim())) return 'Not saved yet: enter a number.';
  return 'Not saved yet: choose a field, or type one such as input.total.';
}

/** Returns the operand, converted to the type of the field if it is still empty. */
function fittingValue(value: RuleValue, type: FieldType): RuleValue {
  if (value.kind !== 'text' || value.text !== '') return value;
  if (type === 'number') return { kind: 'number', text: '' };
  return type === 'truth' ? { kind: 'truth', value: true } : value;
}

/** Changes the operator and keeps the operand if the new operator takes one. The list of “is one of” starts with the old operand. */
function withOperator(rule: Rule, operator: Operator): Rule {
  const operand = operandOf(operator);
  if (operand === 'list' && rule.list.length === 0) return { ...rule, operator, list: [rule.value] };
  const [first] = rule.list;
  if (operand === 'value' && operandOf(rule.operator) === 'list' && first !== undefined)
    return { ...rule, operator, value: first };
  if (operand === 'text' && rule.value.kind !== 'text' && rule.value.kind !== 'field')
    return { ...rule, operator, value: { kind: 'text', text: textOfValue(rule.value) } };
  return { ...rule, operator };
}

const textOfValue = (value: RuleValue): string => ('text' in value ? value.text : '');

const KINDS: readonly { value: RuleValue['kind']; label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'truth', label: 'Yes or no' },
  { value: 'nothing', label: 'Nothing' },
  { value: 'field', label: 'Field' },
];

function convertValue(kind: RuleValue['kind'], previous: RuleValue): RuleValue {
  switch (kind) {
    case 'text':
    case 'number':
      return { kind, text: textOfValue(previous) };
    case 'truth':
      return { kind, value: true };
    case 'nothing':
      return { kind };
    case 'field':
      return { kind, path: '' };
  }
}

type OperandProps = Pick<Props, 'rule' | 'name' | 'onChange' | 'context'> & { type: FieldType };

function Operand({ rule, type, name, onChange, context }: OperandProps) {
  const operand = operandOf(rule.operator);
  if (operand === 'none') return null;
  if (operand === 'list') return <ListOperand {...{ rule, type, name, onChange, context }} />;
  const changeValue = (value: RuleValue) => onChange({ ...rule, value });
  return (
    <>
      <Select
        label={`${name}: kind of value`}
        value={rule.value.kind}
        disabled={context.readOnly}
        className="w-26"
        options={KINDS.filter(({ value }) => operand === 'value' || value === 'text' || value === 'field')}
        onChange={kind => changeValue(convertValue(kind, rule.value))}
      />
      <ValueControl label={`${name}: value`} value={rule.value} onChange={changeValue} context={context} />
    </>
  );
}

type ValueProps = { label: string; value: RuleValue; onChange: (value: RuleValue) => void; context: RuleContext };

function ValueControl({ label, value, onChange, context }: ValueProps) {
  const { readOnly } = context;
  switch (value.kind) {
    case 'nothing':
      return null;
    case 'truth':
      return (
        <Select
          label={label}
          value={value.value ? 'yes' : 'no'}
          disabled={readOnly}
          className="w-24"
          options={[
            { value: 'yes', label: 'Yes' },
            { value: 'no', label: 'No' },
          ]}
          onChange={next => onChange({ kind: 'truth', value: next === 'yes' })}
        />
      );
    case 'field':
      return (
        <div className="min-w-0 basis-full">
          <FieldPicker
            label={label}
            value={value.path}
            onChange={path => onChange({ kind: 'field', path })}
            context={context}
          />
        </div>
      );
    case 'text':
    case 'number':
      return (
        <Input
          aria-label={label}
          value={value.text}
          readOnly={readOnly}
          placeholder={value.kind === 'number' ? '0' : 'Text'}
          inputMode={value.kind === 'number' ? 'decimal' : 'text'}
          className="min-w-24 flex-1"
          onChange={event => onChange({ ...value, text: event.target.value })}
        />
      );
  }
}

/** A list of texts or numbers, separated by commas. Any other list is shown and edited as an expression. */
function ListOperand({ rule, type, name, onChange, context }: OperandProps) {
  const isPlain = rule.list.every(
    value => (value.kind === 'text' && !value.text.includes(',')) || value.kind === 'number',
  );
  const kind = rule.list[0]?.kind === 'number' || (rule.list.length === 0 && type === 'number') ? 'number' : 'text';
  const isOfOneKind = rule.list.every(value => value.kind === kind);
  if (!isPlain || !isOfOneKind)
    return <p className="py-1.5 text-xs text-muted">{rule.list.length} values, edited as an expression</p>;
  const changeValue = (texts: readonly string[], as: 'text' | 'number') =>
    onChange({ ...rule, list: texts.map(text => ({ kind: as, text })) });
  const texts = rule.list.map(textOfValue);
  return (
    <>
      <Select
        label={`${name}: kind of values`}
        value={kind}
        disabled={context.readOnly}
        className="w-26"
        options={KINDS.filter(({ value }) => value === 'text' || value === 'number')}
        onChange={next => changeValue(texts, next === 'number' ? 'number' : 'text')}
      />
      <Input
        aria-label={`${name}: values`}
        value={texts.join(',')}
        readOnly={context.readOnly}
        placeholder={kind === 'number' ? '1,2,3' : 'new,open'}
        className="min-w-24 flex-1"
        onChange={({ target: { value } }) =>
          changeValue(value === '' ? [] : value.split(',').map(each => each.trimStart()), kind)
        }
      />
    </>
  );
}
