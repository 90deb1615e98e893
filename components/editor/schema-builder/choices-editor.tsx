'use client';
import { Plus, X } from 'lucide-react';
import { useRef } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Input } from '../../ui/field.tsx';
import type { Choice } from './field-view.ts';
import { freeName } from './form-model.ts';
import { useKeys } from './use-rows.ts';

type Props = { choices: readonly Choice[]; onChange: (choices: readonly Choice[]) => void };

/** The choices of a field: their values, and labels that differ from the values. Enter adds a choice below. */
export function ChoicesEditor({ choices, onChange }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const { keys, forget } = useKeys(choices.length);
  const isLabeled = choices.some(({ label }) => label !== undefined);
  const values = choices.map(({ value }) => value);
  const focus = (index: number) =>
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLInputElement>('[data-choice]')[index]?.focus());
  const add = () => {
    const value = freeName(`Option ${choices.length + 1}`, values);
    onChange([...choices, isLabeled ? { value, label: value } : { value }]);
    focus(choices.length);
  };
  const remove = (index: number) => {
    forget(index);
    onChange(choices.toSpliced(index, 1));
    focus(Math.max(0, index - 1));
  };
  const change = (index: number, choice: Choice) => onChange(choices.with(index, choice));
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1 text-sm font-medium">Choices</legend>
      <ul ref={list} className="flex flex-col gap-1.5">
        {choices.map((choice, index) => (
          <li key={keys[index]} className="flex gap-1">
            {isLabeled ? (
              <Input
                aria-label={`Label of choice ${index + 1}`}
                placeholder={choice.value}
                value={choice.label ?? ''}
                className="min-w-0 flex-1"
                onChange={event => change(index, { ...choice, label: event.target.value })}
              />
            ) : null}
            <Input
              data-choice
              aria-label={isLabeled ? `Value of choice ${index + 1}` : `Choice ${index + 1}`}
              aria-invalid={values.indexOf(choice.value) !== index || undefined}
              value={choice.value}
              className="min-w-0 flex-1"
              onFocus={event => event.currentTarget.select()}
              onChange={event => change(index, { ...choice, value: event.target.value })}
              onKeyDown={event => {
                if (event.key !== 'Enter') return;
                event.preventDefault();
                if (index === choices.length - 1) add();
                else focus(index + 1);
              }}
            />
            <IconButton
              label={`Remove choice ${index + 1}`}
              tooltip={false}
              disabled={choices.length === 1}
              onClick={() => remove(index)}
            >
              <X aria-hidden className="size-3.5" />
            </IconButton>
          </li>
        ))}
      </ul>
      {new Set(values).size < values.length ? (
        <p role="alert" className="text-xs text-bad">
          Two choices are the same.
        </p>
      ) : null}
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Button size="sm" icon={<Plus aria-hidden className="size-3.5" />} onClick={add}>
          Add choice
        </Button>
        <Checkbox
          label="Labels differ from values"
          checked={isLabeled}
          onCheckedChange={checked =>
            onChange(choices.map(({ value, label }) => (checked ? { value, label: label ?? value } : { value })))
          }
        />
      </div>
    </fieldset>
  );
}
